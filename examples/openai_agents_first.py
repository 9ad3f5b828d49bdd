"""A first agent of the OpenAI Agents SDK: one tool, one prompt. The lines marked guard it.

`python examples/openai_agents_first.py` asks a scripted model that gets the flight number
wrong, as models do; with OPENAI_API_KEY set it asks a live one. The record is in `runs`: read
it with `hornbook trace list`.
"""

import os
from typing import Any

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from hornbook_openai_agents import guard, run_config  # hornbook

QUESTION = "My sister lands in Bergen with DY620 today. When should I be there?"
ARRIVALS = {"DY620": "16:40, on time", "SK620": "11:05, landed"}


@function_tool
def get_arrival(flight: str) -> str:
    """Get the arrival of a flight today, by its number."""
    return f"{flight}: {ARRIVALS.get(flight, 'not known')}"


def decide(call: ModelCall) -> Any:
    """Ask for SK620; told that nobody said so, ask for DY620; answer with what is heard."""
    heard = str(call.input[-1].get("output", ""))
    if not heard or "was not made" in heard:
        flight = "DY620" if heard else "SK620"
        return [function_call("get_arrival", {"flight": flight}, call_id=f"call-{flight}")]
    return [assistant_message(f"The airport says {heard}.")]


live = bool(os.environ.get("OPENAI_API_KEY"))
set_tracing_disabled(not live)

agent = Agent(
    name="Assistant",
    instructions="You are a helpful assistant",
    tools=[get_arrival],
    model=None if live else ScriptedModel([ModelStep.respond(decide)] * 3),
)
agent = guard(agent)  # hornbook

if __name__ == "__main__":
    result = Runner.run_sync(
        agent,
        QUESTION,
        run_config=run_config(trace="runs"),  # hornbook
    )
    for item in result.new_items:
        print(item.to_input_item())
    print(result.final_output)
