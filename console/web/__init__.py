"""The web console: what operators see and steer, in a browser. The same on the sandbox and on AWS."""
