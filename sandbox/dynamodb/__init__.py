"""DynamoDB's item operations, in process: fast, in modelled time, with the conflicts that moto's never has.

Tables are moto's, and items live in moto's tables (in a form of ours that turns into moto's when moto looks:
`storage`), so Scan, PartiQL and the control plane still work through moto on the same data. Expressions are compiled
once for each text (`syntax` → `conditions`, `updates`; `expressions` keeps them): moto parses anew, 0.14 ms a time.
"""

from sandbox.dynamodb.calls import Call, ItemAccess, Latency
from sandbox.dynamodb.errors import DynamoDBError
from sandbox.dynamodb.service import DynamoDB

__all__ = ["Call", "DynamoDB", "DynamoDBError", "ItemAccess", "Latency"]
