import { resolve } from "node:path";

/** What a server of its own is to be like. What is not said is as with `cove serve` (see `docs/configuration.md`). */
export interface ServerConfig {
    /** As in a configuration file: `{ id: "python-data", resources: { memory: "2g" } }`; one with the id of a built-in profile replaces it. */
    profiles?: readonly ({ id: string } & Record<string, unknown>)[] | undefined;
    /** Hosts for every profile without a network of its own. */
    allowHosts?: readonly string[] | undefined;
    /** Loopback or private addresses for them. */
    allowPrivate?: readonly string[] | undefined;
    /** A Python environment for sandboxes: a folder with `bin/python3`. */
    python?: string | undefined;
    /** Where sandboxes and files stay when the program ends, for the next one that names it. */
    dataDir?: string | undefined;
    /** A configuration file, for everything else. */
    file?: string | undefined;
}

/** For `cove serve`, which starts in another folder. */
export function serveArguments(config: ServerConfig): string[] {
    const paths = Object.entries({ "--data-dir": config.dataDir, "--config": config.file });
    const lists = Object.entries({ "--allow-host": config.allowHosts, "--allow-private": config.allowPrivate });
    return [
        ...paths.flatMap(([name, path]) => (path === undefined ? [] : [name, resolve(path)])),
        ...lists.flatMap(([name, values]) => (values ?? []).flatMap((value) => [name, value])),
    ];
}

/** For `cove serve` as well. */
export function serveEnvironment(config: ServerConfig): Record<string, string> {
    return {
        ...(config.profiles?.length ? { BAY_PROFILES: JSON.stringify(config.profiles) } : {}),
        ...(config.python === undefined ? {} : { BAY_DRIVER__LOCAL__PYTHON: resolve(config.python) }),
    };
}
