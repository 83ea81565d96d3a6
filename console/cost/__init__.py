"""`paceline cost`: what 1,000 messages cost on AWS, from the operations that a sandbox run counts."""
