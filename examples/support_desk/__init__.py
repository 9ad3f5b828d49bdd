"""A support desk: an ordinary LangGraph agent, and the same agent under Hornbook."""
