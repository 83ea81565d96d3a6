"""Three designs of one send path on one account, measured in the sandbox: what `paceline contention` compares.

rewrite, add: the story's, as small senders (`story`, `pool`). leased: the product itself, template, workflow and
handlers (`leased`). All have the same latencies (`calibration`), the same DynamoDB and the same carrier.
"""
