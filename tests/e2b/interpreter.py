"""What an unmodified client of E2B's code interpreter must be able to do here. Run by scripts/test-e2b."""

import base64
import time
import traceback

from e2b_code_interpreter import Sandbox

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def values_are_remembered_and_output_is_streamed(sandbox):
    assert sandbox.run_code("x = 20").results == []
    done = sandbox.run_code("x + 22")
    assert done.text == "42" and done.results[0].is_main_result and done.logs.stdout == [], done
    heard = []
    done = sandbox.run_code("import sys\nprint('out')\nprint('err', file=sys.stderr)", on_stdout=lambda m: heard.append(m.line))
    assert "".join(done.logs.stdout) == "out\n" == "".join(heard) and "".join(done.logs.stderr) == "err\n", done


@case
def an_error_is_a_result_with_its_traceback(sandbox):
    error = sandbox.run_code("1 / 0").error
    assert (error.name, error.value) == ("ZeroDivisionError", "division by zero") and "Traceback" in error.traceback, error
    assert sandbox.run_code("x").text == "20"


@case
def a_chart_is_a_picture_and_data(sandbox):
    done = sandbox.run_code(
        "import matplotlib.pyplot as plt\n"
        "plt.bar(['a', 'b'], [1, 2], label='g'); plt.title('T'); plt.xlabel('X'); plt.show()"
    )
    assert not done.error, done.error
    (result,) = [one for one in done.results if one.png]
    assert base64.b64decode(result.png).startswith(b"\x89PNG"), result
    assert result.chart.title == "T" and [bar.value for bar in result.chart.elements] == [1, 2], result.chart.to_dict()


@case
def a_box_plot_is_no_line_chart(sandbox):
    done = sandbox.run_code("plt.figure(); plt.boxplot([[1, 2, 3, 4, 100], [5, 6, 7]]); plt.show()")
    (result,) = [one for one in done.results if one.png]
    first, second = result.chart.elements
    assert (result.chart.type.value, first.median, first.outliers, second.median) == ("box_and_whisker", 3, [100], 6), done


@case
def a_table_is_html(sandbox):
    done = sandbox.run_code("import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    assert not done.error and "<table" in done.results[0].html and "a" in done.text, done


@case
def other_forms_come_as_they_are(sandbox):
    done = sandbox.run_code(
        "class Shown:\n"
        "    def _repr_markdown_(self): return '**m**'\n"
        "    def _repr_svg_(self): return '<svg/>'\n"
        "    def _repr_latex_(self): return '$x$'\n"
        "display(Shown())\n"
        "{'a': 1}"
    )
    first, last = done.results
    assert (first.markdown, first.svg, first.latex) == ("**m**", "<svg/>", "$x$") and not first.is_main_result
    assert last.json == {"a": 1} and last.is_main_result, last


@case
def contexts_keep_their_variables_apart(sandbox):
    sandbox.files.make_dir("own")
    context = sandbox.create_code_context(cwd="/home/user/own", language="python")
    assert sandbox.run_code("y = 1; import os; os.getcwd()", context=context).text == "'/workspace/own'"
    assert sandbox.run_code("y").error.name == "NameError"
    assert context.id in [one.id for one in sandbox.list_code_contexts()]
    sandbox.restart_code_context(context)
    assert sandbox.run_code("y", context=context).error.name == "NameError"
    sandbox.remove_code_context(context)
    assert context.id not in [one.id for one in sandbox.list_code_contexts()]


@case
def other_languages(sandbox):
    done = sandbox.run_code("console.log('said'); const a = 40; a + 2", language="javascript")
    assert done.text == "42" and "".join(done.logs.stdout) == "said\n", done
    assert sandbox.run_code("const b: number = 1; b + 1", language="typescript").text == "2"
    assert "".join(sandbox.run_code("echo $((6 * 7))", language="bash").logs.stdout) == "42\n"
    try:
        sandbox.run_code("1", language="cobol")
        raise AssertionError("cobol was taken")
    except Exception as error:
        assert "cobol" in str(error), error


@case
def variables_of_the_environment(sandbox):
    assert sandbox.run_code("import os; os.environ['A'] + os.environ['B']", envs={"B": "2"}).text == "'12'"
    assert sandbox.run_code("os.environ.get('B')").text is None


@case
def a_time_out_interrupts_and_keeps_the_variables(sandbox):
    began = time.monotonic()
    try:
        sandbox.run_code("import time; time.sleep(600)", timeout=1)
        raise AssertionError("it did not time out")
    except Exception as error:
        assert not isinstance(error, AssertionError), error
    assert sandbox.run_code("x").text == "20" and time.monotonic() - began < 10


@case
def a_pause_at_the_end_of_its_time_ends_variables_and_contexts(_):
    own = Sandbox.create(timeout=3, lifecycle={"on_timeout": "pause", "auto_resume": True})
    context = own.create_code_context(language="python")
    assert own.run_code("kept = 1; kept", context=context).text == own.run_code("kept = 1; kept").text == "1"
    end = time.monotonic() + 30
    while own.get_info().state.value != "paused":
        assert time.monotonic() < end, "it was not paused"
        time.sleep(0.05)
    assert own.run_code("kept").error.name == "NameError"
    assert context.id not in [one.id for one in own.list_code_contexts()]
    assert own.kill()


def main():
    sandbox = Sandbox.create(timeout=300, envs={"A": "1"})
    failed = []
    for function in CASES:
        began = time.monotonic()
        try:
            function(sandbox)
            print(f"ok    {function.__name__} {time.monotonic() - began:.2f}s")
        except BaseException:
            failed.append(function.__name__)
            print(f"FAILED {function.__name__}")
            traceback.print_exc()
    sandbox.kill()
    print(f"code interpreter: {len(CASES) - len(failed)} of {len(CASES)} hold")
    raise SystemExit(1 if failed else 0)


main()
