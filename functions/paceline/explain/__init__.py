"""What became of a lead, or of a campaign, step by step, from the rows alone (`paceline explain`)."""

from paceline.explain.campaign import explain_campaign
from paceline.explain.finding import LeadNotFound
from paceline.explain.lead import ReadReceipt, explain_lead
from paceline.explain.steps import Explanation, Step

__all__ = ["Explanation", "LeadNotFound", "ReadReceipt", "Step", "explain_campaign", "explain_lead"]
