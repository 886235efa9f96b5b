"""The event algebra one event at a time, with as little state as timeframes and duplicates allow."""
