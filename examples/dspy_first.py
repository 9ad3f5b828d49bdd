"""A first agent of DSPy: ReAct with one tool. The lines marked `# hornbook` guard it.

`python examples/dspy_first.py` asks a scripted model that gets the flight number wrong, as
models do; with OPENAI_API_KEY or ANTHROPIC_API_KEY set it asks a live one. The record is in
`runs`: read it with `hornbook trace list`.
"""

import os
import re

import dspy
from dspy.lm15 import Message, Request, Response, Usage

from hornbook_dspy import configure, guard  # hornbook

QUESTION = "My sister lands in Bergen with DY620 today. When should I be there?"
ARRIVALS = {"DY620": "16:40, on time", "SK620": "11:05, landed"}
LIVE = {"OPENAI_API_KEY": "openai/gpt-5-mini", "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5"}


def get_arrival(flight: str) -> str:
    """Get the arrival of a flight today, by its number."""
    return f"{flight}: {ARRIVALS.get(flight, 'not known')}"


class Scripted:
    """Asks for SK620; told that nobody said so, asks for DY620; answers with what it hears."""

    def complete(self, request: Request) -> Response:
        text = request.messages[-1].parts[0].text
        heard = re.findall(r"## observation_\d+ ## \]\]\n([^\n]+)", text)
        tool, arguments = "finish", "{}"
        if not heard or "was not made" in heard[-1]:
            flight = "DY620" if heard else "SK620"
            tool, arguments = "get_arrival", f'{{"flight": "{flight}"}}'
        fields = {"next_thought": "", "next_tool_name": tool, "next_tool_args": arguments}
        if "next_tool_name" not in str(request.system):
            said = next(one for one in reversed(heard) if one != "Completed.")
            fields = {"reasoning": "", "answer": f"The airport says {said}."}
        reply = "\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
        message = Message.assistant(f"{reply}\n[[ ## completed ## ]]")
        usage = Usage(input_tokens=len(text) // 4, output_tokens=len(reply) // 4)
        return Response(
            id=None, model=request.model, message=message, finish_reason="stop", usage=usage
        )


live = next((name for key, name in LIVE.items() if os.environ.get(key)), None)
dspy.configure(lm=dspy.LM(live) if live else dspy.LM("scripted", engine=Scripted(), cache=False))
configure(trace="runs")  # hornbook
agent = dspy.ReAct("question -> answer", tools=[get_arrival])
agent = guard(agent)  # hornbook

if __name__ == "__main__":
    prediction = agent(question=QUESTION)
    for name, value in prediction.trajectory.items():
        print(f"{name}: {value}")
    print(prediction.answer)
