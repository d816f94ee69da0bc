"""Those who judge: functions of a case and its trajectory, statistics and reports."""
