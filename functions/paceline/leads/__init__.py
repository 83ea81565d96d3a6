"""Leads: from a customer's file to numbers, texts, time zones and batches."""
