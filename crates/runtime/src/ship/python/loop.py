# The Python side of /ipython/exec: reads code from a socket, runs it in one lasting namespace, answers.
#
# It must start quickly (hence the few imports, and IPython only for the first cell that needs it), survive whatever the
# code does short of killing the process, and leave stdout and stderr alone: they are pipes that Ship reads, so that
# child processes and C extensions are heard as well. Who calls it is in zygote.py, which follows in the same text.
import __future__
import builtins
import functools
import json
import linecache
import os
import signal
import struct
import sys
import types

MAX_IMAGES = 20
MAX_IMAGE_BYTES = 8 << 20
MAX_RESULTS = 50
MAX_TEXT_BYTES = 2 << 20
MAX_RESULT_BYTES = 32 << 20
# How a value can tell what it looks like, and as what.
FORMS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}
CO_COROUTINE = 0x80
# The only feature of `__future__` that is not the present yet.
FUTURE = __future__.annotations.compiler_flag


class Channel:
    """Frames of JSON, each after its length. The descriptor is ours alone: children do not inherit it."""

    def __init__(self, number):
        os.set_inheritable(number, False)
        self.number = number

    def _exactly(self, count):
        parts = []
        while count:
            part = os.read(self.number, min(count, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        (length,) = struct.unpack(">I", self._exactly(4))
        return json.loads(self._exactly(length))

    def send(self, message):
        body = json.dumps(message).encode()
        data = memoryview(struct.pack(">I", len(body)) + body)
        while data:
            data = data[os.write(self.number, data):]


class Interrupt:
    """SIGINT ends the running cell and nothing else."""

    running = False

    def __call__(self, number, frame):
        if self.running:
            raise KeyboardInterrupt

    def arm(self):
        signal.signal(signal.SIGINT, self)
        self.running = True


class Pictures:
    """What the code wants to be seen, as PNG."""

    def __init__(self, results):
        self.taken = []
        self.results = results
        self.main = False

    def add(self, png, value=None, chart=None):
        import base64

        if len(self.taken) >= MAX_IMAGES or len(png) > MAX_IMAGE_BYTES:
            print(f"[an image of {len(png)} bytes was left out]")
        else:
            text = base64.b64encode(png).decode()
            self.taken.append(text)
            self.results.picture(text, value, chart, self.main)

    def figure(self, figure):
        import io

        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", bbox_inches="tight")
        self.add(buffer.getvalue(), figure, chart_of(figure))

    def picture(self, image):
        import io

        buffer = io.BytesIO()
        if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"):
            image = image.convert("RGB")
        image.save(buffer, format="PNG")
        self.add(buffer.getvalue(), image)

    def open_figures(self):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums"):
            return
        for number in pyplot.get_fignums():
            self.figure(pyplot.figure(number))
        pyplot.close("all")

    def show(self, value):
        """Shows a value that is a picture; False when it is none."""
        kind = type(value)
        names = {f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__}
        if "matplotlib.figure.Figure" in names:
            self.figure(value)
            pyplot = sys.modules.get("matplotlib.pyplot")
            if pyplot is not None:
                pyplot.close(value)
        elif "PIL.Image.Image" in names:
            self.picture(value)
        elif hasattr(kind, "_repr_png_"):
            png = value._repr_png_()
            if isinstance(png, tuple):
                png = png[0]
            if not png:
                return False
            self.add(png, value)
        else:
            return False
        return True

    def take(self):
        taken, self.taken = self.taken, []
        return taken


class Results:
    """What was displayed, in every form that it has. The value of the last expression is the main one."""

    def __init__(self):
        self.taken = []
        self.bytes = 0

    def put(self, data, main):
        size = sum(len(form) if isinstance(form, str) else len(json.dumps(form)) for form in data.values())
        if len(self.taken) < MAX_RESULTS and self.bytes + size <= MAX_RESULT_BYTES:
            self.bytes += size
            self.taken.append({"main": main, "data": data})

    def picture(self, png, value, chart, main):
        data = {"image/png": png}
        if value is not None:
            data.update(self.text(value))
        if chart:
            data["application/vnd.cove.chart+json"] = chart
        self.put(data, main)

    def text(self, value):
        try:
            return {"text/plain": repr(value)[:MAX_TEXT_BYTES]}
        except Exception:
            return {"text/plain": f"<{type(value).__name__}>"}

    def value(self, value, main):
        data = self.text(value)
        kind = type(value)
        bundle = getattr(kind, "_repr_mimebundle_", None)
        if callable(bundle):
            self.bundle(data, lambda: value._repr_mimebundle_(include=None, exclude=None))
        for method, form in FORMS.items():
            if form not in data and callable(getattr(kind, method, None)):
                self.bundle(data, lambda: {form: getattr(value, method)()})
        if isinstance(value, (dict, list)) and "application/json" not in data:
            self.plain_json(data, value)
        self.put(data, main)

    def bundle(self, data, ask):
        import base64

        try:
            forms = ask()
            if isinstance(forms, tuple):
                forms = forms[0]
            for form, told in (forms or {}).items():
                if isinstance(told, tuple):
                    told = told[0]
                if isinstance(told, bytes):
                    told = base64.b64encode(told).decode()
                if told is not None and len(json.dumps(told)) <= MAX_IMAGE_BYTES:
                    data[form] = told
        except Exception:
            # A form that cannot be told is not there; the text is.
            pass

    def plain_json(self, data, value):
        try:
            text = json.dumps(value, allow_nan=False)
            if len(text) <= MAX_TEXT_BYTES:
                data["application/json"] = json.loads(text)
        except Exception:
            pass

    def take(self):
        taken, self.taken, self.bytes = self.taken, [], 0
        return taken


def chart_of(figure):
    """The data of a figure's charts; none where it has no form that is known."""
    try:
        charts = [chart for chart in (axes_of(axes) for axes in figure.axes) if chart]
        if len(charts) < 2:
            chart = charts[0] if charts else None
        else:
            title = figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""
            chart = {"type": "superchart", "title": title, "elements": charts}
        return chart if chart and len(json.dumps(chart)) <= MAX_TEXT_BYTES else None
    except Exception:
        return None


def plain(number):
    number = number.item() if hasattr(number, "item") else number
    return number if isinstance(number, (int, float, str)) else str(number)


def points_of(pairs):
    return [[plain(x), plain(y)] for x, y in pairs]


def axes_of(axes):
    labels = {"x_label": axes.get_xlabel() or None, "y_label": axes.get_ylabel() or None}
    head = {"title": axes.get_title() or None, "x_unit": None, "y_unit": None, **labels}
    ticks = {
        "x_ticks": [plain(tick) for tick in axes.get_xticks()],
        "x_tick_labels": [label.get_text() for label in axes.get_xticklabels()],
        "x_scale": axes.get_xscale(),
        "y_ticks": [plain(tick) for tick in axes.get_yticks()],
        "y_tick_labels": [label.get_text() for label in axes.get_yticklabels()],
        "y_scale": axes.get_yscale(),
    }
    wedges = [patch for patch in axes.patches if type(patch).__name__ == "Wedge"]
    if wedges:
        texts = [text.get_text() for text in axes.texts]
        step = max(1, len(texts) // len(wedges))
        names = texts[::step][: len(wedges)] + [""] * len(wedges)
        parts = [
            {"label": name, "angle": plain(abs(wedge.theta2 - wedge.theta1)), "radius": plain(wedge.r)}
            for name, wedge in zip(names, wedges)
        ]
        return {"type": "pie", "title": head["title"], "elements": parts}
    bars = [one for one in axes.containers if type(one).__name__ == "BarContainer"]
    if bars:
        parts = []
        for group, container in enumerate(bars):
            upright = getattr(container, "orientation", "vertical") != "horizontal"
            names = [label.get_text() for label in (axes.get_xticklabels() if upright else axes.get_yticklabels())]
            for place, bar in enumerate(container.patches):
                name = names[place] if len(names) == len(container.patches) else str(plain(bar.get_x() + bar.get_width() / 2))
                value = bar.get_height() if upright else bar.get_width()
                label = container.get_label()
                parts.append({"label": name, "value": plain(value), "group": label if label[:1] != "_" else str(group)})
        return {"type": "bar", **head, "elements": parts}
    boxes = getattr(axes, "cove_boxes", None)
    if boxes:
        named = {"min": "whislo", "first_quartile": "q1", "median": "med", "third_quartile": "q3", "max": "whishi"}
        parts = [
            {
                "label": str(box.get("label", "")),
                "outliers": [plain(one) for one in box.get("fliers", [])],
                **{name: plain(box[known]) for name, known in named.items()},
            }
            for box in boxes
        ]
        return {"type": "box_and_whisker", **head, "elements": parts}
    dots = [one for one in axes.collections if type(one).__name__ == "PathCollection"]
    if dots:
        parts = [{"label": one.get_label(), "points": points_of(one.get_offsets())} for one in dots]
        return {"type": "scatter", **head, **ticks, "elements": parts}
    if axes.lines:
        parts = [{"label": line.get_label(), "points": points_of(zip(line.get_xdata(), line.get_ydata()))} for line in axes.lines]
        return {"type": "line", **head, **ticks, "elements": parts}
    return None


def keep_boxes(kind):
    """A box plot is drawn as lines; what they mean is known only while they are drawn."""
    draw = kind.bxp

    @functools.wraps(draw)
    def bxp(axes, bxpstats, *args, **words):
        drawn = draw(axes, bxpstats, *args, **words)
        axes.cove_boxes = [*getattr(axes, "cove_boxes", []), *bxpstats]
        return drawn

    kind.bxp = bxp


class Patches:
    """Changes a module as soon as it has been imported: `show` has no window to open here."""

    def __init__(self, pictures):
        self.todo = {
            "matplotlib.axes": lambda module: keep_boxes(module.Axes),
            # Functions, not methods: matplotlib gives its `show` attributes of its own.
            "matplotlib.pyplot": lambda module: setattr(module, "show", lambda *a, **k: pictures.open_figures()),
            "PIL.Image": lambda module: setattr(module.Image, "show", lambda image, *a, **k: pictures.picture(image)),
        }

    def find_spec(self, name, path=None, target=None):
        patch = self.todo.pop(name, None)
        if patch is None:
            return None
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            self.todo[name] = patch
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            patch(module)

        spec.loader.exec_module = exec_module
        return spec


def refuse_input(prompt="", /):
    raise RuntimeError("input() is not possible here: nobody can type. Put the value into the code instead.")


class Leave:
    """`exit` and `quit` end the cell. Python's own would close standard input as well, which `help` wants to look at."""

    def __repr__(self):
        return "exit() ends the cell; variables are kept."

    def __call__(self, code=None):
        raise SystemExit(code)


leave = Leave()


class Cells:
    """The namespace, and the two ways to run code in it: plain, or by IPython's shell."""

    def __init__(self, wish):
        self.main = types.ModuleType("__main__")
        self.main.__builtins__ = builtins
        sys.modules["__main__"] = self.main
        self.names = self.main.__dict__
        self.results = Results()
        self.pictures = Pictures(self.results)
        self.value_apart = False
        self.interrupt = Interrupt()
        self.wish = wish
        self.shell = None
        self.loop = None
        self.errors = []
        sys.meta_path.insert(0, Patches(self.pictures))
        sys.displayhook = self.display_result
        self.flags = 0x2000  # PyCF_ALLOW_TOP_LEVEL_AWAIT
        builtins.input = refuse_input
        builtins.exit = builtins.quit = leave
        builtins.display = self.display

    def display(self, *values, **kwargs):
        for value in values:
            self.show(value, False)

    def show(self, value, main):
        self.pictures.main = main
        if not self.pictures.show(value):
            self.results.value(value, main)
            if not self.value_apart:
                print(repr(value))
        self.pictures.main = False

    def display_result(self, value):
        if value is None:
            return
        builtins._ = value
        self.show(value, True)

    def needs_ipython(self, code):
        if self.wish == "never":
            return False
        if self.wish == "always":
            return True
        if "get_ipython" in code or "IPython" in code:
            return True
        if not any(mark in code for mark in "%!?"):
            return False
        try:
            compile(code, "<cell>", "exec", dont_inherit=True, flags=0x2000)
            return False
        except SyntaxError:
            return True
        except Exception:
            return False

    def ipython(self):
        if self.shell is None and self.wish != "never":
            try:
                self.shell = make_shell(self)
            except ImportError:
                self.wish = "never"
        return self.shell

    def run(self, code, count):
        """Runs one cell; the error it ended with, as name, message and traceback."""
        if (self.shell is not None or self.needs_ipython(code)) and self.ipython() is not None:
            self.errors = []
            result = self.shell.run_cell(code, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            if error is None:
                return None
            if isinstance(error, SystemExit):
                return left(error)
            text = "\n".join(self.errors) or f"{type(error).__name__}: {error}"
            return {"name": type(error).__name__, "message": str(error), "traceback": text}
        try:
            self.plain(code, f"<cell {count}>")
            return None
        except SystemExit as error:
            return left(error)
        except BaseException as error:
            return describe(error)

    def plain(self, code, name):
        import ast

        lines = code.splitlines(True)
        linecache.cache[name] = (len(code), None, lines, name)
        tree = compile(code, name, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        last = None
        # A semicolon at the end keeps the value quiet, as in IPython.
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        if tree.body:
            compiled = compile(tree, name, "exec", self.flags, dont_inherit=True)
            # `from __future__ import …` holds for the cells that follow, as for the lines of one file.
            self.flags |= compiled.co_flags & FUTURE
            self.evaluate(compiled)
        if last is not None:
            sys.displayhook(self.evaluate(compile(last, name, "eval", self.flags, dont_inherit=True)))

    def evaluate(self, code):
        if not code.co_flags & CO_COROUTINE:
            return eval(code, self.names)
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(eval(code, self.names))


def left(error):
    """What a cell that was left by `exit` ended with: nothing, unless it said so."""
    if error.code in (None, 0):
        return None
    return {"name": "SystemExit", "message": str(error.code), "traceback": f"SystemExit: {error.code}"}


def describe(error):
    import traceback

    try:
        told = traceback.TracebackException(type(error), error, error.__traceback__)
        todo = [told]
        while todo:
            one = todo.pop()
            # Our own frames are nobody's business.
            one.stack = traceback.StackSummary.from_list([f for f in one.stack if f.filename != "<cove>"])
            todo.extend(other for other in (one.__cause__, one.__context__) if other is not None)
        text, message = "".join(told.format()), str(error)
    except BaseException:
        text = message = f"{type(error).__name__} (it could not be shown)"
    return {"name": type(error).__name__, "message": message, "traceback": text.rstrip("\n")}


def make_shell(cells):
    os.environ.setdefault("IPYTHONDIR", "/tmp/.ipython")
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, *args, **kwargs):
            show(data, False)

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, data, md_dict=None):
            show(data, True)

        def __call__(self, result=None):
            # Pictures are ours, whatever formatters are there.
            cells.pictures.main = True
            if result is not None and not self.quiet() and cells.pictures.show(result):
                self.update_user_ns(result)
            else:
                super().__call__(result)
            cells.pictures.main = False

    class Shell(InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)

        # Straight to our pipe: the usual way goes through a terminal and turns every line end into two characters.
        system = InteractiveShell.system_raw

        def _showtraceback(self, etype, evalue, stb):
            cells.errors.append("\n".join(stb))

        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            raise SystemExit

    def show(data, main):
        png = data.get("image/png")
        if png:
            import base64

            cells.pictures.add(base64.b64decode(png) if isinstance(png, str) else png)
            return
        forms = {}
        cells.results.bundle(forms, lambda: data)
        cells.results.put(forms, main)
        if "text/plain" in data and not cells.value_apart:
            print(data["text/plain"])

    from traitlets.config import Config

    config = Config()
    # History in memory: it must not lock or fill a file in the workspace.
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.cache_size = 0
    try:
        shell = Shell.instance(user_module=cells.main, user_ns=cells.names, config=config)
    except Exception:
        config.InteractiveShell.colors = "nocolor"
        shell = Shell.instance(user_module=cells.main, user_ns=cells.names, config=config)
    import warnings

    # Its advice on how to leave a terminal.
    warnings.filterwarnings("ignore", message="To exit: use")
    # It brings its own, which take no code.
    cells.names["exit"] = cells.names["quit"] = leave
    builtins.input = refuse_input
    return shell


def prepare_paths():
    """What `-I` leaves out and a sandbox wants: the working directory, PYTHONPATH, packages of the user."""
    import site

    home = os.environ.get("HOME", "/workspace")
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    user = f"{home}/.local/lib/{version}/site-packages"
    if os.path.isdir(user):
        site.addsitedir(user)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path]
    sys.path[:0] = ["", *paths]
    sys.argv = [""]


class environment:
    """Environment variables that are there for one cell."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.wanted}
        os.environ.update(self.wanted)

    def __exit__(self, *error):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def serve(channel, cells):
    """Runs cells for as long as there is somebody who sends them."""
    own = os.getpid()
    count = 0
    while True:
        request = channel.receive()
        count += 1
        error = None
        try:
            cells.interrupt.arm()
            cells.value_apart = bool(request.get("value_apart"))
            with environment(request.get("env") or {}):
                error = cells.run(request["code"], count)
                cells.pictures.open_figures()
            cells.interrupt.running = False
        except BaseException as trouble:
            cells.interrupt.running = False
            error = error or describe(trouble)
        if os.getpid() != own:
            # The code forked and this is the copy: it must not answer in its parent's name.
            os._exit(0)
        flush()
        ipython = cells.shell is not None
        answer = {"count": count, "error": error, "images": cells.pictures.take(), "results": cells.results.take()}
        channel.send({**answer, "ipython": ipython})


def flush():
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass
