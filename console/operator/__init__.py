"""What operators see and steer by command, over the customers' API with an operator's key."""
