"""What a model step costs, and pictures of step responses; run from the tree, not installed."""
