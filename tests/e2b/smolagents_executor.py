"""smolagents' own E2B executor runs a task here, unmodified and without a model. Run by scripts/test-e2b."""

from smolagents import FinalAnswerTool
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.remote_executors import E2BExecutor

executor = E2BExecutor([], AgentLogger(level=LogLevel.ERROR))
executor.send_variables({"numbers": [1, 2, 3]})
executor.send_tools({"final_answer": FinalAnswerTool()})
output = executor("total = sum(numbers)\nprint('total', total)")
assert "total 6" in output.logs and not output.is_final_answer, output
output = executor("final_answer({'total': total})")
assert output.is_final_answer and output.output == {"total": 6}, output
try:
    executor("1 / 0")
    raise AssertionError("no error was raised")
except AssertionError:
    raise
except Exception as error:
    assert "ZeroDivisionError" in str(error), error
executor.cleanup()
print("smolagents: its executor ran a task")
