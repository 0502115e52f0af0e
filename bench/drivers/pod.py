"""The cluster without Bay: the Pod that Bay orders, ordered from the API by hand, asked by the same line, and deleted as Bay does it."""
import base64
import hashlib
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.parse

from engine import Timed, command

PORT = 8127


class Cluster:
    """The API of KUBECONFIG's cluster; one connection for questions, one for the watch of a Pod."""

    def __init__(self, namespace: str):
        config = json.loads(command(os.environ.get("COVE_BENCH_KUBECTL", "kubectl"), "config", "view", "--minify", "--flatten", "--raw", "-o", "json"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.address = urllib.parse.urlsplit(cluster["server"])
        self.headers = {"Content-Type": "application/json"}
        if "token" in user:
            self.headers["Authorization"] = f"Bearer {user['token']}"
        self.trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile() as file:
                file.write(base64.b64decode(user["client-certificate-data"]) + b"\n" + base64.b64decode(user["client-key-data"]))
                file.flush()
                self.trust.load_cert_chain(file.name)
        self.at = f"/api/v1/namespaces/{namespace}"
        self.asked = self.connect()

    def connect(self):
        return http.client.HTTPSConnection(self.address.hostname, self.address.port or 443, context=self.trust, timeout=120)

    def ask(self, method: str, path: str, body=None, fine=(200, 201, 202)):
        self.asked.request(method, self.at + path, json.dumps(body) if body is not None else None, self.headers)
        answer = self.asked.getresponse()
        text = answer.read()
        assert answer.status in fine, (method, path, text)
        return json.loads(text)

    def until(self, name: str, begun: str, so):
        """What `so` finds in the first state of a Pod in which it finds something; a Pod that is gone is None to it."""
        line = self.connect()
        try:
            line.request("GET", f"{self.at}/pods?watch=true&fieldSelector=metadata.name%3D{name}&resourceVersion={begun}", headers=self.headers)
            answer = line.getresponse()
            while True:
                event = json.loads(answer.readline())
                found = so(None if event["type"] == "DELETED" else event["object"])
                if found:
                    return found
        finally:
            line.close()


class Line(http.client.HTTPConnection):
    """HTTP with a Pod's runtime, through its line."""

    def __init__(self, address: str, key: str):
        super().__init__("localhost", timeout=60)
        self.place, self.key = address, key

    def connect(self):
        self.sock = socket.create_connection((self.place, PORT), 5)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.sendall(f"cove-line/1 {self.key} runtime\n".encode())
        if self.sock.recv(3, socket.MSG_WAITALL) != b"ok\n":
            raise ConnectionRefusedError("the Pod did not take the connection")

    def execute(self):
        self.request("POST", "/shell/exec", json.dumps({"command": "true", "timeout": 60}), {"Content-Type": "application/json"})
        answer = self.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200 and told["success"], told


def runs(pod):
    """The address of a Pod all of whose containers run."""
    status = pod["status"] if pod else {}
    states = [one["state"] for one in status.get("containerStatuses", [])]
    return status.get("podIP") if states and all("running" in state for state in states) else None


def ended(pod):
    """`gone`, or `record` where only the object is left."""
    if pod is None:
        return "gone"
    states = [one["state"] for one in pod["status"].get("containerStatuses", [])]
    return "record" if pod["metadata"].get("deletionTimestamp") and states and all("terminated" in state for state in states) else None


class Pod(Timed):
    """Orders copies of the Pod and of the claim that a Bay has ordered for a sandbox."""

    def __init__(self, sandbox: str, namespace: str):
        super().__init__()
        self.cluster, self.number, self.there = Cluster(namespace), 0, set()
        pod = self.cluster.ask("GET", f"/pods?labelSelector=cove.sandbox%3D{sandbox}")["items"][0]
        claim = self.cluster.ask("GET", "/persistentvolumeclaims/" + pod["metadata"]["ownerReferences"][0]["name"])
        self.claim = {name: claim["spec"][name] for name in ("accessModes", "resources", "storageClassName") if name in claim["spec"]}
        self.spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
        self.grace = self.spec["terminationGracePeriodSeconds"]

    def begin(self):
        self.warm, self.line = self.start()

    def order(self, name: str, key: str):
        """Bay's own words, with a claim and a key of its own, and labels that keep nothing else together."""
        spec = json.loads(json.dumps(self.spec))
        for volume in spec["volumes"]:
            if "persistentVolumeClaim" in volume:
                volume["persistentVolumeClaim"]["claimName"] = name
        line = next(one for one in spec["containers"] if one["name"] == "line")["command"]
        line[line.index("--key") + 1] = hashlib.sha256(key.encode()).hexdigest()
        for term in spec.get("affinity", {}).get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", []):
            term["labelSelector"] = {"matchLabels": {"cove.bench": name}}
        return {"metadata": {"name": name, "labels": {"cove.bench": name}}, "spec": spec}

    def start(self):
        self.number += 1
        name, key = f"cove-bare-{os.getpid()}-{self.number}", secrets.token_hex(32)
        self.there.add(name)
        self.cluster.ask("POST", "/persistentvolumeclaims", {"metadata": {"name": name}, "spec": self.claim})
        made = self.cluster.ask("POST", "/pods", self.order(name, key))
        line = Line(self.cluster.until(name, made["metadata"]["resourceVersion"], runs), key)
        while True:
            try:
                line.execute()
                return name, line
            except (ConnectionError, http.client.HTTPException):
                line.close()
                time.sleep(0.01)

    def remove(self, name: str):
        asked = self.cluster.ask("DELETE", f"/pods/{name}", {"gracePeriodSeconds": self.grace})
        begun = asked["metadata"]["resourceVersion"]
        if self.cluster.until(name, begun, ended) == "record":
            self.cluster.ask("DELETE", f"/pods/{name}", {"gracePeriodSeconds": 0}, (200, 202, 404))
        self.cluster.ask("DELETE", f"/persistentvolumeclaims/{name}")
        self.there.discard(name)

    def round(self):
        name, line = self.timed("first", self.start)
        line.close()
        for _ in range(5):
            self.timed("warm", self.line.execute)
        self.timed("delete", lambda: self.remove(name))

    def end(self):
        for name in list(self.there):
            try:
                self.remove(name)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                print(f"left behind: {name}: {error}")
