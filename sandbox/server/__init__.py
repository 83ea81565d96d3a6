"""The sandbox as a server: AWS's protocols and the customers' API on one port."""
