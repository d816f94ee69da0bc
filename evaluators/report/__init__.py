"""What people read: pages without anything that is loaded or run, and the text of others made safe for them."""
