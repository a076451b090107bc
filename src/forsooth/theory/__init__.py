"""What can be said beforehand: the paper's error bounds."""
