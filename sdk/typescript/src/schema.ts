// Written by scripts/write-schema.mjs from docs/openapi.json; a change here is lost.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An annotation. A missing field is not changed. */
        Annotation: {
            /**
             * @description Description.
             * @default null
             */
            description?: string | null;
            /**
             * @description Notes.
             * @default null
             */
            notes?: string | null;
            /**
             * @description Tags, separated by commas.
             * @default null
             */
            tags?: string | null;
        };
        /** @description A call that waits for a person. The code that makes it stands still meanwhile; nothing of it is run again afterwards. */
        Approval: {
            /** @description With which arguments. */
            args: unknown;
            /** @description Since when it waits. */
            asked_at: components["schemas"]["Moment"];
            /** @description When it is denied if nobody has decided. */
            ends_at: components["schemas"]["Moment"];
            /** @description Its id. */
            id: string;
            /** @description The lines of code that make such a call, where the code names it. */
            lines: components["schemas"]["CodeLine"][];
            /** @description The sandbox whose code asks. */
            sandbox_id: string;
            /** @description The JavaScript session that the code runs in; null: none. */
            session?: string | null;
            /** @description What is to be called: `github.delete_repository`. */
            tool: string;
            /** @description Why a person is asked. */
            why: string;
        };
        /** @description What a person decides. */
        ApprovalDecision: {
            /**
             * @description When denying: what the code is told.
             * @default null
             */
            reason?: string | null;
            /**
             * @description When approving: whether further calls of this tool by this session are made without asking.
             * @default false
             */
            remember?: boolean;
        };
        /** @description The calls that wait, oldest first. */
        ApprovalList: {
            /** @description They. */
            items: components["schemas"]["Approval"][];
        };
        /** @description One artifact of a sandbox. */
        ArtifactInfo: {
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description `image/png`, … */
            media_type: string;
            /** @description Its file name, `<uuid>.png`. */
            name: string;
            /**
             * Format: int64
             * @description Its size.
             */
            size: number;
        };
        /** @description A sandbox's artifacts. */
        ArtifactList: {
            /** @description Newest first. */
            items: components["schemas"]["ArtifactInfo"][];
        };
        /**
         * @description The limit or the wall that ended or refused an execution.
         * @enum {string}
         */
        Barrier: "time_limit" | "step_limit" | "memory_limit" | "disk_limit" | "size_limit" | "not_allowed";
        /** @description Several commands, one after the other. */
        BrowserBatchRequest: {
            /** @description The commands. */
            commands: string[];
            /** @description Description, for the history. */
            description?: string | null;
            /** @description Whether to store a trace. */
            include_trace?: boolean;
            /** @description Whether a skill may be learnt from it: its trace is stored, and its entry in the history has the reference (`payload_ref`). */
            learn?: boolean;
            /**
             * @description Whether to stop at the first failure.
             * @default true
             */
            stop_on_error?: boolean;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit for all of them together, in seconds.
             * @default 60
             */
            timeout?: number;
        };
        /** @description The results of several browser commands. */
        BrowserBatchResult: {
            /**
             * Format: int32
             * @description Number of commands that ran.
             */
            completed_steps: number;
            /**
             * Format: int64
             * @description Time they took, in milliseconds.
             */
            duration_ms: number;
            /** @description Their entry in the history: one for all of them. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description Time the call took, in milliseconds.
             */
            execution_time_ms?: number | null;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /** @description The result of each command that ran. */
            results: components["schemas"]["BrowserStep"][];
            /** @description Whether all ran and succeeded. */
            success: boolean;
            /**
             * Format: int32
             * @description Number of commands in the request.
             */
            total_steps: number;
            /** @description The trace, if requested. */
            trace_ref?: string | null;
        };
        /**
         * @description What refused or ended a command of the browser.
         * @enum {string}
         */
        BrowserCause: "timed_out" | "held" | "not_allowed" | "host_not_allowed" | "host_not_reached" | "not_on_page" | "not_started";
        /** @description One command. */
        BrowserExecRequest: {
            /** @description An agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`. */
            cmd: string;
            /** @description Description, for the history. */
            description?: string | null;
            /** @description Whether to store a trace. */
            include_trace?: boolean;
            /** @description Whether a skill may be learnt from it: its trace is stored, and its entry in the history has the reference (`payload_ref`). */
            learn?: boolean;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description The result of a browser command. */
        BrowserExecResult: {
            cause?: components["schemas"]["BrowserCause"] | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            execution_time_ms?: number | null;
            /**
             * Format: int32
             * @description Its exit code; −1: timed out; −2: not begun, because a person had control of the browser all the time.
             */
            exit_code?: number | null;
            /** @description What to do next; in `stderr` as well. */
            hint?: string | null;
            /** @description What happened besides, such as a browser that was started again; in `stderr` as well. */
            notes?: string[];
            /** @description Its output. It contains text of the page: do not trust it. */
            output: string;
            /** @description Why Cove refused or ended it; in `stderr` as well. */
            reason?: string | null;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /** @description Standard error. */
            stderr: string;
            /** @description Standard output. */
            stdout: string;
            /** @description Whether its exit code is 0. */
            success: boolean;
            /** @description The trace, if requested. */
            trace_ref?: string | null;
        };
        /** @description A replay of a skill. */
        BrowserSkillRequest: {
            /** @description Description, for the history. */
            description?: string | null;
            /** @description Whether to store a trace. */
            include_trace?: boolean;
            /**
             * @description Whether to stop at the first failure.
             * @default true
             */
            stop_on_error?: boolean;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit for all commands, in seconds.
             * @default 60
             */
            timeout?: number;
        };
        /** @description The result of a replay. */
        BrowserSkillResult: {
            /**
             * Format: int32
             * @description Number of commands that ran.
             */
            completed_steps: number;
            /**
             * Format: int64
             * @description Time they took, in milliseconds.
             */
            duration_ms: number;
            /** @description Its entry in the history. */
            execution_id: string;
            /**
             * Format: int64
             * @description Time the call took, in milliseconds.
             */
            execution_time_ms: number;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /** @description The release that was replayed. */
            release_id: string;
            /** @description The result of each command that ran. */
            results: components["schemas"]["BrowserStep"][];
            /** @description The skill. */
            skill_key: string;
            /** @description Whether all ran and succeeded. */
            success: boolean;
            /**
             * Format: int32
             * @description Number of commands.
             */
            total_steps: number;
            /** @description The trace, if requested. */
            trace_ref?: string | null;
        };
        /** @description One command of several. */
        BrowserStep: {
            cause?: components["schemas"]["BrowserCause"] | null;
            /** @description The command. */
            cmd: string;
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            duration_ms: number;
            /**
             * Format: int32
             * @description Its exit code.
             */
            exit_code: number;
            /** @description What to do next; in `stderr` as well. */
            hint?: string | null;
            /** @description What happened besides, such as a browser that was started again; in `stderr` as well. */
            notes?: string[];
            /** @description Why Cove refused or ended it; in `stderr` as well. */
            reason?: string | null;
            /** @description Standard error. */
            stderr: string;
            /** @description Standard output. */
            stdout: string;
            /**
             * Format: int32
             * @description Its index, from 0.
             */
            step_index: number;
        };
        /** @description A stored trace. */
        BrowserTrace: {
            /** @description When. */
            created_at: components["schemas"]["Moment"];
            /** @description The execution that it belongs to. */
            execution_id?: string | null;
            /** @description The trace; the same as the payload of this reference. */
            trace: components["schemas"]["TraceContent"];
            /** @description Its reference. */
            trace_ref: string;
        };
        /** @description A candidate. */
        CandidateInfo: {
            /** @description Whether it may be released automatically. */
            auto_release_eligible: boolean;
            /** @description The reason for that. */
            auto_release_reason?: string | null;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description Its owner. */
            created_by?: string | null;
            /** @description Why. */
            delete_reason?: string | null;
            deleted_at?: components["schemas"]["Moment"] | null;
            /** @description Who deleted it. */
            deleted_by?: string | null;
            /** @description `sc-` and 12 hex digits. */
            id: string;
            /** @description Whether it was deleted. */
            is_deleted: boolean;
            last_evaluated_at?: components["schemas"]["Moment"] | null;
            /** @description Whether the last evaluation passed. */
            latest_pass?: boolean | null;
            /**
             * Format: double
             * @description The last evaluation's score.
             */
            latest_score?: number | null;
            /** @description Its payload. */
            payload_ref?: string | null;
            /** @description Postconditions. */
            postconditions?: Record<string, never> | null;
            /** @description Preconditions. */
            preconditions?: Record<string, never> | null;
            /** @description Its release, unless that was deleted. */
            promotion_release_id?: string | null;
            /** @description What it is for. */
            scenario_key?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description `code` or `browser`. */
            skill_type: string;
            /** @description The executions that it was made from. */
            source_execution_ids: string[];
            /** @description Its state. */
            status: components["schemas"]["CandidateStatus"];
            /** @description What it does. */
            summary?: string | null;
            /** @description When it last changed. */
            updated_at: components["schemas"]["Moment"];
            /** @description How to use it. */
            usage_notes?: string | null;
        };
        /** @description A page of candidates. */
        CandidateList: {
            /** @description Newest first. */
            items: components["schemas"]["CandidateInfo"][];
            /**
             * Format: int64
             * @description Total number.
             */
            total: number;
        };
        /**
         * @description The state of a candidate.
         * @enum {string}
         */
        CandidateStatus: "draft" | "evaluating" | "promoted" | "promoted_canary" | "promoted_stable" | "rejected" | "rolled_back";
        /** @description A cargo. */
        CargoInfo: {
            /** @description How it is stored and how its limit is enforced: `local+loop`, `local+watch`, … */
            backend: string;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description `ws-` and 12 hex digits. */
            id: string;
            /** @description When a sandbox last used it. */
            last_accessed_at: components["schemas"]["Moment"];
            /** @description Whether it was created for a sandbox and is deleted with it. */
            managed: boolean;
            /** @description That sandbox. */
            managed_by_sandbox_id?: string | null;
            /**
             * Format: int32
             * @description Its size limit in MB.
             */
            size_limit_mb: number;
        };
        /** @description A page of cargos. */
        CargoList: {
            /** @description The cargos of this page. */
            items: components["schemas"]["CargoInfo"][];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor?: string | null;
        };
        /** @description What to click. */
        ClickRequest: {
            /** @description `@e1`, from the last snapshot. */
            ref: string;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description A line of code. */
        CodeLine: {
            /**
             * Format: int32
             * @description Its number, from 1.
             */
            line: number;
            /** @description What it says. */
            text: string;
        };
        /**
         * @description What became of a connection.
         * @enum {string}
         */
        ConnectionVerdict: "open" | "ended" | "closed" | "refused" | "unreachable";
        /** @description One container of a session. */
        ContainerInfo: {
            /** @description Its capabilities. */
            capabilities: string[];
            /** @description Whether it answers; null: not checked. */
            healthy?: boolean | null;
            /** @description Its name in the profile. */
            name: string;
            /** @description `ship` or `gull`. */
            runtime_type: string;
            /** @description `running`, `stopped` or `failed`. */
            status: string;
            /** @description The runtime's version. */
            version?: string | null;
        };
        /** @description Where a container may connect to. */
        ContainerNetwork: {
            /** @description Hosts that are open; none: the network is closed. */
            allow_hosts: string[];
            /** @description Private addresses that are open. */
            allow_private: string[];
            /** @description Its name in the profile. */
            container: string;
        };
        /** @description One container of a profile. */
        ContainerProfile: {
            /** @description Its capabilities. */
            capabilities: string[];
            /** @description Its name. */
            name: string;
            /** @description Its resource limits. */
            resources: components["schemas"]["Resources"];
            /** @description `ship` or `gull`. */
            runtime_type: string;
        };
        /** @description A candidate to create. */
        CreateCandidate: {
            /** @description Its payload: stored here (`blob:…`), or a reference of the caller's own, which cannot be replayed. */
            payload_ref?: string | null;
            /** @description Postconditions. */
            postconditions?: Record<string, never> | null;
            /** @description Preconditions. */
            preconditions?: Record<string, never> | null;
            /** @description What it is for. */
            scenario_key?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description The executions that it is made from; they must be the caller's own. */
            source_execution_ids: string[];
            /** @description What it does. */
            summary?: string | null;
            /** @description How to use it. */
            usage_notes?: string | null;
        };
        /** @description A cargo to create. */
        CreateCargo: {
            /**
             * Format: int32
             * @description Its size limit in MB; default: the configured one.
             * @default null
             */
            size_limit_mb?: number | null;
        };
        /** @description A link that has just been made. Whoever has its address may use the port until it expires or is revoked. */
        CreatedPortLink: {
            /** @description When it ends. */
            expires_at: components["schemas"]["Moment"];
            /** @description Its id, by which it is revoked. */
            id: string;
            /**
             * Format: int32
             * @description The port.
             */
            port: number;
            /** @description The address to open in a browser. It is shown this once. */
            url: string;
        };
        /** @description A payload to store. */
        CreatePayload: {
            /**
             * @description What kind of payload.
             * @default generic
             */
            kind?: string;
            /** @description An object or an array. */
            payload: unknown;
        };
        /** @description A link to make. */
        CreatePortLink: {
            /**
             * Format: int32
             * @description The port. Nobody needs to listen there yet.
             */
            port: number;
            /**
             * Format: int32
             * @description How long it works.
             * @default 3600
             */
            seconds?: number | null;
        };
        /** @description A program to start. It runs on by itself, and ends with the sandbox's session at the latest. */
        CreateProcess: {
            /**
             * @description The program and its arguments. A program without a slash is looked up in `PATH`; a line for a shell is
             *     `["bash", "-c", "…"]`.
             */
            argv: string[];
            /** @description The folder to run in, relative to `/workspace`, or an absolute path; default: `/workspace`. */
            cwd?: string | null;
            /** @description Environment variables, added to the profile's. */
            env?: {
                [key: string]: string;
            };
            /** @description Whether its standard input can be written; otherwise it is empty. */
            input?: boolean;
            /** @description Its id; default: 8 hex digits. It begins with a letter and has at most 64 letters, digits, `-`, `_` and `.`. */
            name?: string | null;
            /** @description Starts it again with each session of the sandbox, until it is ended with signal 9; it needs a name. */
            restart?: boolean;
            terminal?: components["schemas"]["TerminalSize"] | null;
            /**
             * Format: int32
             * @description Seconds after which it is ended; default: never.
             */
            timeout?: number | null;
        };
        /** @description A sandbox to create. */
        CreateSandbox: {
            /**
             * @description Id of an existing cargo; default: a new one that is deleted with the sandbox.
             * @default null
             */
            cargo_id?: string | null;
            /**
             * @description Whether its session, with all processes in it, goes on without calls for as long as the sandbox lives.
             * @default false
             */
            keep_session?: boolean;
            /**
             * @description Words of your own to find it by: at most 64, of at most 256 bytes each, with at most 4 KiB for each value.
             * @default {}
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description Name of the profile.
             * @default python-default
             */
            profile?: string;
            /**
             * Format: int64
             * @description Lifetime in seconds; null or 0: unlimited.
             * @default null
             */
            ttl?: number | null;
        };
        /** @description What was deleted. */
        Deleted: {
            /** @description Why. */
            delete_reason?: string | null;
            /** @description When. */
            deleted_at: components["schemas"]["Moment"];
            /** @description Who deleted it. */
            deleted_by?: string | null;
            /** @description Its id. */
            id: string;
        };
        /** @description The reason for a deletion. */
        DeleteRequest: {
            /**
             * @description The reason.
             * @default null
             */
            reason?: string | null;
        };
        /** @description The entries of a folder, including hidden ones. */
        DirectoryList: {
            /** @description The entries. */
            entries: components["schemas"]["FileInfo"][];
        };
        /** @description Which engine ran, and why. */
        EngineUsed: {
            /** @description The same in words. */
            because: string;
            /** @description `embedded` or `browser`. */
            name: string;
            /**
             * @description Why this one.
             * @enum {string}
             */
            reason: "asked_for" | "no_browser" | "needs_browser" | "needs_no_browser" | "session" | "missing_feature" | "stack_overflow" | "long_computation";
        };
        /** @description The body of every error. */
        ErrorBody: {
            /** @description The error. */
            error: components["schemas"]["ErrorDetail"];
        };
        /**
         * @description The stable code of an error.
         * @enum {string}
         */
        ErrorCode: "not_found" | "unauthorized" | "forbidden" | "quota_exceeded" | "session_not_ready" | "timeout" | "ship_error" | "conflict" | "sandbox_expired" | "sandbox_ttl_infinite" | "validation_error" | "file_not_found" | "capability_not_supported" | "invalid_path" | "port_closed" | "link_expired" | "internal_error";
        /** @description An error. */
        ErrorDetail: {
            /** @description The stable code. */
            code: components["schemas"]["ErrorCode"];
            /** @description Details for programs. */
            details?: Record<string, never> | null;
            /** @description One sentence, never empty. */
            message: string;
            /** @description The request's id, as in `X-Request-Id`. */
            request_id: string;
        };
        /** @description The result of an evaluation. */
        Evaluate: {
            /** @description The name of the benchmark. */
            benchmark_id?: string | null;
            /** @description Whether it passed. */
            passed: boolean;
            /** @description Report of the evaluation. */
            report?: string | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            score?: number | null;
        };
        /** @description An evaluation. */
        EvaluationInfo: {
            /** @description The name of the benchmark. */
            benchmark_id?: string | null;
            /** @description Id of the candidate. */
            candidate_id: string;
            /** @description When. */
            created_at: components["schemas"]["Moment"];
            /** @description Who evaluated it. */
            evaluated_by?: string | null;
            /** @description `se-` and 12 hex digits. */
            id: string;
            /** @description Whether it passed. */
            passed: boolean;
            /** @description Report of the evaluation. */
            report?: string | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            score?: number | null;
        };
        /** @description One event. Its number is the `id` of the server-sent event, from which a reader can resume. */
        Event: {
            /** @description When. */
            at: components["schemas"]["Moment"];
            /** @description Its data. */
            data: Record<string, never>;
            /** @description Its kind. */
            kind: components["schemas"]["EventKind"];
            /**
             * Format: int64
             * @description Its number, counted per sandbox.
             */
            seq: number;
        };
        /**
         * @description The kind of an event.
         * @enum {string}
         */
        EventKind: "state" | "run_started" | "console" | "output" | "tool_call" | "approval_asked" | "approval_ended" | "run_finished" | "ports" | "network" | "gap";
        /**
         * @description The kind of an execution.
         * @enum {string}
         */
        ExecType: "python" | "shell" | "javascript" | "browser" | "browser_batch";
        /** @description An extension of a lifetime. */
        ExtendTtl: {
            /**
             * Format: int64
             * @description Seconds, counted from the expiry or from now, whichever is later.
             */
            extend_by: number;
        };
        /** @description A text file's content. */
        FileContent: {
            /** @description The text. */
            content: string;
        };
        /** @description One entry of a folder. */
        FileInfo: {
            /** @description Whether it is a folder. */
            is_dir: boolean;
            /** @description Whether it is a file. */
            is_file: boolean;
            modified_at?: components["schemas"]["Moment"] | null;
            /** @description Its name. */
            name: string;
            /** @description Relative to `/workspace`. */
            path: string;
            /**
             * Format: int64
             * @description Its size; none for folders.
             */
            size?: number | null;
        };
        /** @description What to fill in. */
        FillRequest: {
            /** @description `@e1`, from the last snapshot. */
            ref: string;
            /** @description The text. It is typed as it is. */
            text: string;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /**
         * @description What has happened to a name in a folder.
         * @enum {string}
         */
        FolderChange: "created" | "written" | "removed" | "renamed" | "attributes";
        /** @description One change in a watched folder. */
        FolderEvent: {
            /** @description What has happened. */
            change: components["schemas"]["FolderChange"];
            /** @description The name, relative to the watched folder. */
            path: string;
        };
        /** @description What the collector did. */
        GcReport: {
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            duration_ms: number;
            /** @description One report for each task. */
            results: components["schemas"]["GcTaskReport"][];
            /**
             * Format: int64
             * @description Total number of things cleaned up.
             */
            total_cleaned: number;
            /**
             * Format: int64
             * @description Total number of errors.
             */
            total_errors: number;
        };
        /** @description Which of the collector's tasks to run now. */
        GcRequest: {
            /**
             * @description The tasks; default: all that are enabled.
             * @default null
             */
            tasks?: string[] | null;
        };
        /** @description The collector. */
        GcStatus: {
            /** @description Whether it runs by itself. */
            enabled: boolean;
            /** @description Id of this Bay. */
            instance_id: string;
            /**
             * Format: int64
             * @description Interval in seconds.
             */
            interval_seconds: number;
            /** @description Whether it is running now. */
            is_running: boolean;
            last_report?: components["schemas"]["GcReport"] | null;
            last_run_at?: components["schemas"]["Moment"] | null;
            /** @description Its tasks, and whether each is enabled. */
            tasks: Record<string, never>;
        };
        /** @description What one task did. */
        GcTaskReport: {
            /**
             * Format: int64
             * @description Number of things cleaned up.
             */
            cleaned: number;
            /** @description What went wrong. */
            errors: string[];
            /**
             * Format: int64
             * @description Number of things checked and left alone.
             */
            skipped: number;
            /** @description `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, … */
            task: string;
        };
        /** @description The server runs. */
        Health: {
            /** @description `ok` */
            status: string;
            /** @description Cove's version. */
            version: string;
        };
        /** @description One execution. */
        HistoryEntry: {
            /** @description Names of the artifacts that it drew. */
            artifacts?: string[];
            barrier?: components["schemas"]["Barrier"] | null;
            /** @description What ran. */
            code: string;
            /** @description When it ran. */
            created_at: components["schemas"]["Moment"];
            /** @description Description by the caller. */
            description?: string | null;
            /** @description Its error, up to a limit. */
            error?: string | null;
            /** @description Its kind. */
            exec_type: components["schemas"]["ExecType"];
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            execution_time_ms: number;
            /** @description `exec-` and 12 hex digits. */
            id: string;
            /** @description Whether a skill may be learnt from it. */
            learn_enabled: boolean;
            /** @description Why learning failed. */
            learn_error?: string | null;
            learn_processed_at?: components["schemas"]["Moment"] | null;
            /** @description `pending`, `processed` or `error`; null: not to be learnt from. */
            learn_status?: string | null;
            /** @description Notes that were added later. */
            notes?: string | null;
            /** @description Its output, up to a limit. */
            output?: string | null;
            /** @description The payload that holds more, such as a trace. */
            payload_ref?: string | null;
            /** @description The session it ran in. */
            session_id?: string | null;
            /** @description Whether it succeeded. */
            success: boolean;
            /** @description Tags by the caller, separated by commas. */
            tags?: string | null;
        };
        /** @description A page of the history. */
        HistoryList: {
            /** @description Newest first. */
            entries: components["schemas"]["HistoryEntry"][];
            /**
             * Format: int64
             * @description Total number.
             */
            total: number;
        };
        /** @description The result of JavaScript, in detail. */
        JavaScriptData: {
            engine?: components["schemas"]["EngineUsed"] | null;
            /** @description Pictures that were drawn, as artifacts. */
            images: components["schemas"]["JavaScriptImage"][];
            /** @description Whether the code called `final_answer`. */
            is_final?: boolean;
            /** @description Console lines. */
            logs: string;
            /** @description The value; with a failure, what `run_javascript` answers (`error`, `message`, `line`, `frame`, …). */
            result: unknown;
            /** @description Warnings: why another engine ran than the requested one, that the state of a session is lost, … */
            warnings?: string[];
        };
        /** @description JavaScript or TypeScript to run. */
        JavaScriptExecRequest: {
            /** @description A function body; with a session, statements whose last value is the result. */
            code: string;
            /** @description Description, for the history. */
            description?: string | null;
            /** @description `embedded`, `browser` or `auto` (the default). */
            engine?: string | null;
            /** @description Whether the answer includes the code. */
            include_code?: boolean;
            /** @description The variable `input`. */
            input?: unknown;
            /** @description `true` keeps state between calls; a name keeps a session of that name. */
            session?: unknown;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
            /**
             * @description Tools that the caller answers itself: each call appears as a `tool_call` event of the sandbox, and is answered at
             *     `/v1/sandboxes/{id}/javascript/tools/{call_id}`.
             */
            tools?: components["schemas"]["RemoteTool"][];
        };
        /** @description The result of JavaScript. */
        JavaScriptExecResult: {
            /** @description The code, if requested. */
            code?: string | null;
            data?: components["schemas"]["JavaScriptData"] | null;
            /** @description The error with its code frame. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            execution_time_ms?: number | null;
            /** @description Console lines, then the value, as text. */
            output: string;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /** @description Whether it ended without an error. */
            success: boolean;
        };
        /** @description A picture that was drawn. */
        JavaScriptImage: {
            /**
             * Format: int32
             * @description Height in pixels.
             */
            height?: number | null;
            /** @description `image/png` */
            media_type: string;
            /** @description Its artifact: download it at `/v1/sandboxes/{id}/artifacts/{name}`. */
            name: string;
            /**
             * Format: int32
             * @description Width in pixels.
             */
            width?: number | null;
        };
        /** Format: date-time */
        Moment: string;
        /** @description A URL to open. */
        NavigateRequest: {
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
            /** @description The URL. */
            url: string;
        };
        /** @description A connection that a sandbox has asked for. */
        NetworkConnection: {
            /** @description When. */
            at: components["schemas"]["Moment"];
            /**
             * Format: int64
             * @description Bytes that it has got.
             */
            down_bytes: number;
            /** @description The host, as it was asked for. */
            host: string;
            /**
             * Format: int32
             * @description Its port.
             */
            port: number;
            /**
             * Format: int64
             * @description Bytes that the sandbox has sent.
             */
            up_bytes: number;
            /** @description What became of it. */
            verdict: components["schemas"]["ConnectionVerdict"];
        };
        /** @description A payload. */
        PayloadInfo: {
            /** @description What kind of payload. */
            kind: string;
            /** @description The payload. */
            payload: unknown;
            /** @description `blob:` and its id. */
            payload_ref: string;
        };
        /** @description Where a payload is. */
        PayloadRef: {
            /** @description What kind of payload. */
            kind: string;
            /** @description `blob:` and its id. */
            payload_ref: string;
        };
        /** @description A port on which a program in the sandbox listens. */
        PortInfo: {
            /** @description The addresses inside the sandbox that the program listens on. */
            addresses: string[];
            /**
             * Format: int32
             * @description Its number.
             */
            port: number;
            /** @description Where a browser reaches it, by a link. */
            url: string;
        };
        /** @description A link, without its address. */
        PortLink: {
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description When it ends. */
            expires_at: components["schemas"]["Moment"];
            /** @description Its id, by which it is revoked. */
            id: string;
            /**
             * Format: int32
             * @description The port.
             */
            port: number;
        };
        /** @description The links of a sandbox that still work, the newest first. */
        PortLinkList: {
            /** @description All of them. */
            items: components["schemas"]["PortLink"][];
        };
        /** @description The ports on which programs listen; empty while the sandbox does not run. */
        PortList: {
            /** @description In their order. */
            items: components["schemas"]["PortInfo"][];
        };
        /** @description A piece of what a process has written. */
        ProcessChunk: {
            /** @description The bytes, in base64. */
            data: string;
            /**
             * Format: int64
             * @description How many bytes before it are lost: nobody has read them in time.
             */
            dropped?: number;
            /**
             * Format: int64
             * @description Its end, in bytes of all that the process has written.
             */
            end: number;
            /** @description Where to. */
            stream: components["schemas"]["ProcessStream"];
        };
        /** @description What happens to a process that is followed. */
        ProcessFrame: {
            /** @description The first: which process this is. */
            process: components["schemas"]["ProcessInfo"];
        } | {
            /** @description It has written. */
            output: components["schemas"]["ProcessChunk"];
        } | "alive" | {
            /** @description The last: how it ended. */
            ended: components["schemas"]["ProcessInfo"];
        };
        /** @description A process that was started in a sandbox. */
        ProcessInfo: {
            /** @description The program and its arguments. */
            argv?: string[];
            /** @description The command. */
            command: string;
            /** @description The folder that it was started in, if one was named. */
            cwd?: string | null;
            /** @description Why it did not end by itself. */
            error?: string | null;
            /**
             * Format: int32
             * @description Its number in the sandbox.
             */
            pid?: number | null;
            /** @description Its id: the name that it was given, or 8 hex digits. */
            process_id: string;
            /**
             * Format: int32
             * @description Its exit code.
             */
            return_code?: number | null;
            /** @description Whether it runs. */
            running: boolean;
            /**
             * Format: int64
             * @description How long it ran, or has run.
             */
            running_ms: number;
            /**
             * Format: int32
             * @description The signal that ended it.
             */
            signal?: number | null;
            /**
             * Format: double
             * @description When it was started, in seconds since 1970.
             */
            started_at: number;
            /** @description How it is doing. */
            status: components["schemas"]["ProcessStatus"];
            /** @description Standard error. */
            stderr?: string;
            /** @description Standard output, or the terminal. */
            stdout?: string;
            stopped?: components["schemas"]["Stopped"] | null;
            /** @description Whether it runs in a terminal. */
            terminal?: boolean;
            /** @description Whether output was left out. */
            truncated?: boolean;
        };
        /** @description Something for a process's standard input, or for its terminal. */
        ProcessInput: {
            /**
             * @description Bytes in base64; they follow the text.
             * @default null
             */
            data?: string | null;
            /**
             * @description Whether nothing follows: its standard input is closed.
             * @default false
             */
            end?: boolean;
            /**
             * @description Text.
             * @default null
             */
            text?: string | null;
        };
        /** @description All processes that were started in a sandbox and are remembered. */
        ProcessList: {
            /** @description The oldest first. */
            processes: components["schemas"]["ProcessInfo"][];
        };
        /** @description What a process wrote so far: the beginning and the end, where that was much. */
        ProcessOutput: {
            /** @description Standard error. */
            stderr: string;
            /** @description Standard output, or the terminal. */
            stdout: string;
            /** @description Whether output was left out. */
            truncated: boolean;
        };
        /** @description A signal for a process and its group. */
        ProcessSignal: {
            /**
             * Format: int32
             * @description Its number: 15 asks to end, 2 interrupts, 9 ends the process and everything that it has started.
             * @default 15
             */
            signal?: number;
        };
        /**
         * @description How a process is doing.
         * @enum {string}
         */
        ProcessStatus: "running" | "completed" | "failed" | "killed" | "timed_out";
        /**
         * @description Where a process has written to.
         * @enum {string}
         */
        ProcessStream: "stdout" | "stderr" | "terminal";
        /** @description A profile. */
        ProfileInfo: {
            /** @description Its capabilities. */
            capabilities: string[];
            /** @description Its containers; with `detail=true`. */
            containers?: components["schemas"]["ContainerProfile"][] | null;
            /** @description What it is for; with `detail=true`. */
            description?: string | null;
            /** @description Its name. */
            id: string;
            /**
             * Format: int64
             * @description Seconds without a call after which its session ends.
             */
            idle_timeout: number;
            /** @description Image of the first container; not used by the local driver. */
            image: string;
            /** @description Resource limits of its first container. */
            resources: components["schemas"]["Resources"];
        };
        /** @description All profiles. */
        ProfileList: {
            /** @description The profiles. */
            items: components["schemas"]["ProfileInfo"][];
        };
        /** @description A release to make. The candidate's last evaluation must have passed. */
        Promote: {
            /** @description Release notes. */
            change_summary?: string | null;
            /** @description The stage. */
            stage?: components["schemas"]["ReleaseStage"];
            /** @description The release that it replaces. */
            upgrade_of_release_id?: string | null;
            /** @description Why. */
            upgrade_reason?: string | null;
        };
        /** @description The result of Python, in detail. */
        PythonData: {
            /** @description What the error says. */
            error_message?: string | null;
            /** @description The class of the error. */
            error_name?: string | null;
            /**
             * Format: int64
             * @description Number of executions of this interpreter.
             */
            execution_count?: number | null;
            /** @description Text, pictures and other results. */
            output: components["schemas"]["PythonOutput"];
        };
        /** @description Python to run. */
        PythonExecRequest: {
            /** @description The code. State is kept between calls. */
            code: string;
            /** @description Description, for the history. */
            description?: string | null;
            /** @description Environment variables for this run. */
            env?: {
                [key: string]: string;
            };
            /** @description Whether the answer includes the code. */
            include_code?: boolean;
            /**
             * @description Sends the output as `output` events of the sandbox while it runs. Each event carries this word, so that a client
             *     recognises its own: 1 to 64 letters, digits, `-` and `_`.
             */
            output_tag?: string | null;
            /** @description A name keeps an interpreter of its own, with its own variables: 1 to 64 letters, digits, `-` and `_`. */
            session?: string | null;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description The result of Python. */
        PythonExecResult: {
            /** @description The code, if requested. */
            code?: string | null;
            data?: components["schemas"]["PythonData"] | null;
            /** @description The error with its traceback. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            execution_time_ms?: number | null;
            /** @description What it printed, and the value of the last expression. */
            output: string;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /**
             * Format: int32
             * @description The signal that ended the interpreter; null: none.
             */
            signal?: number | null;
            /** @description Whether the interpreter was restarted: variables and imports are lost. */
            state_lost?: boolean;
            stopped?: components["schemas"]["Stopped"] | null;
            /** @description Whether it ended without an error. */
            success: boolean;
            /** @description Whether it timed out. */
            timed_out?: boolean;
        };
        /** @description Text and pictures. */
        PythonOutput: {
            /** @description Pictures: a media type and base64 each. */
            images: Record<string, never>[];
            /** @description What was displayed, and at last the value of the last expression, each in all the forms that it has. */
            results?: components["schemas"]["PythonResult"][];
            /** @description The text. */
            text: string;
        };
        /** @description A value that was displayed, or the value of the last expression. */
        PythonResult: {
            /** @description Its forms by media type: text as it is, pictures in base64. `application/vnd.cove.chart+json` has the data of a chart. */
            data: Record<string, never>;
            /** @description Whether it is the value of the last expression. */
            main?: boolean;
        };
        /** @description The health of a release, compared with the previous one. */
        ReleaseHealth: {
            /**
             * Format: double
             * @description Error rate of the previous release.
             */
            baseline_error_rate: number;
            /**
             * Format: int64
             * @description Number of replays of the previous release.
             */
            baseline_samples: number;
            /**
             * Format: double
             * @description Success rate of the previous release.
             */
            baseline_success_rate: number;
            /**
             * Format: double
             * @description Error rate, from 0 to 1.
             */
            error_rate: number;
            /**
             * Format: double
             * @description Factor by which the error rate rose.
             */
            error_rate_multiplier: number;
            /** @description Whether it is healthy. */
            healthy: boolean;
            /**
             * Format: int64
             * @description 95th percentile of the duration, in milliseconds.
             */
            p95_duration: number;
            /** @description Id of the release. */
            release_id: string;
            /** @description Why. */
            rollback_reasons: string[];
            /**
             * Format: int64
             * @description Number of replays.
             */
            samples: number;
            /** @description Whether a rollback is recommended. */
            should_rollback: boolean;
            /** @description The skill's name. */
            skill_key: string;
            /** @description Its stage. */
            stage: string;
            /**
             * Format: double
             * @description Drop of the success rate.
             */
            success_drop: number;
            /**
             * Format: double
             * @description Success rate, from 0 to 1.
             */
            success_rate: number;
            /** @description The thresholds for that. */
            thresholds: Record<string, never>;
            /** @description Whether the window has ended. */
            window_complete: boolean;
            /** @description End of the observation window. */
            window_end_at: components["schemas"]["Moment"];
            /** @description Start of the observation window. */
            window_start_at: components["schemas"]["Moment"];
        };
        /** @description A release. */
        ReleaseInfo: {
            /** @description The canary that it came from. */
            auto_promoted_from?: string | null;
            /** @description The candidate that was released. */
            candidate_id: string;
            /** @description Release notes. */
            change_summary?: string | null;
            /** @description Why. */
            delete_reason?: string | null;
            deleted_at?: components["schemas"]["Moment"] | null;
            /** @description Who deleted it. */
            deleted_by?: string | null;
            health_window_end_at?: components["schemas"]["Moment"] | null;
            /** @description `sr-` and 12 hex digits. */
            id: string;
            /** @description Whether it is active: the last released one of its skill. */
            is_active: boolean;
            /** @description Whether it was deleted. */
            is_deleted: boolean;
            /** @description When. */
            promoted_at: components["schemas"]["Moment"];
            /** @description Who released it. */
            promoted_by?: string | null;
            /** @description `manual` or `auto`. */
            release_mode: string;
            /** @description The release that this one rolls back. */
            rollback_of?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description The stage. */
            stage: components["schemas"]["ReleaseStage"];
            /** @description The release that it replaces. */
            upgrade_of_release_id?: string | null;
            /** @description Why. */
            upgrade_reason?: string | null;
            /**
             * Format: int64
             * @description Its version, counted per skill.
             */
            version: number;
        };
        /** @description A page of releases. */
        ReleaseList: {
            /** @description Newest first. */
            items: components["schemas"]["ReleaseInfo"][];
            /**
             * Format: int64
             * @description Total number.
             */
            total: number;
        };
        /**
         * @description The stage of a release.
         * @enum {string}
         */
        ReleaseStage: "canary" | "stable";
        /** @description A tool that the caller answers itself. */
        RemoteTool: {
            /** @description Whether a person must allow each call (`/v1/approvals`). The code waits meanwhile, and its time stands still. */
            ask?: boolean;
            /** @description What it does. */
            description?: string;
            /** @description The name of the function that guest code calls. */
            name: string;
        };
        /** @description Resource limits of a container. */
        Resources: {
            /**
             * Format: double
             * @description Processors; 0.5 is half of one.
             */
            cpus: number;
            /** @description Memory, as `512m` or `1g`. */
            memory: string;
        };
        /** @description A sandbox. */
        SandboxInfo: {
            /** @description Capabilities of its profile. */
            capabilities: string[];
            /** @description Its cargo, mounted at `/workspace`. */
            cargo_id: string;
            /** @description Its session's containers, while it has a session. */
            containers?: components["schemas"]["ContainerInfo"][] | null;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            expires_at?: components["schemas"]["Moment"] | null;
            /** @description `sandbox-` and 12 hex digits. */
            id: string;
            idle_expires_at?: components["schemas"]["Moment"] | null;
            /** @description What its owner says of it. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Where each container of its profile may connect to. Not in lists. */
            network?: components["schemas"]["ContainerNetwork"][] | null;
            /** @description Its profile. */
            profile: string;
            /** @description Its state. */
            status: components["schemas"]["SandboxStatus"];
            usage?: components["schemas"]["SandboxUsage"] | null;
            /**
             * @description Warnings: limits that are not enforced (`memory: watched, not enforced`), and what this machine lacks for it, with the
             *     command that installs it (`browser: agent-browser was not found; install it with …`).
             */
            warnings?: string[];
        };
        /** @description A page of sandboxes. */
        SandboxList: {
            /** @description The sandboxes of this page. */
            items: components["schemas"]["SandboxInfo"][];
            /** @description Cursor of the next page; null on the last page. */
            next_cursor?: string | null;
        };
        /** @description The network of a sandbox. */
        SandboxNetwork: {
            /** @description The hosts that are open now. */
            allow_hosts: string[];
            /** @description The last connections since the server has started, the newest first. */
            connections: components["schemas"]["NetworkConnection"][];
            /**
             * @description The hosts that may be opened: those of the profile, and those that it lets be opened; `*` is every host that is not
             *     private.
             */
            may_allow: string[];
        };
        /**
         * @description The state of a sandbox.
         * @enum {string}
         */
        SandboxStatus: "idle" | "starting" | "ready" | "failed" | "expired";
        /** @description What the processes of a session use. */
        SandboxUsage: {
            /**
             * Format: int64
             * @description Processor time since the session began, in milliseconds: two readings give the share of a processor between them.
             */
            cpu_ms: number;
            /**
             * Format: int64
             * @description Memory that each has for itself, in bytes.
             */
            memory_bytes: number;
        };
        /** @description The body of 422: the request does not parse, or does not fit its schema. */
        SchemaErrors: {
            /** @description Each problem. */
            detail: components["schemas"]["SchemaProblem"][];
        };
        /** @description One problem of a request. */
        SchemaProblem: {
            /** @description Position: `body`, `query` or `path`, then names and indices. */
            loc: unknown[];
            /** @description What is wrong. */
            msg: string;
            /** @description Kind of the problem: `missing`, `json_invalid`, `value_error`, … */
            type: string;
        };
        /** @description A screenshot to take. */
        ScreenshotRequest: {
            /** @description The whole page instead of the visible part. */
            full_page?: boolean;
            /** @description Path relative to `/workspace`; default: a new name. */
            path?: string | null;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description An event of the stream. */
        SentEvent: {
            /** @description The whole event as JSON. */
            data: string;
            event: ("state" | "run_started" | "console" | "output" | "tool_call" | "approval_asked" | "approval_ended" | "run_finished" | "ports" | "network" | "gap") & Record<string, never>;
            /** @description Its number. */
            id: string;
        };
        /** @description An event of a process's stream. */
        SentProcessEvent: {
            /** @description The event as JSON: its kind, and what belongs to it. */
            data: string;
            /** @description `process`, `output`, `ended`; or `error` with the body of an error, after which nothing comes. */
            event: string;
            /** @description With output: where it ends, in bytes of all that the process has written. */
            id?: string | null;
        };
        /** @description An event of a watched folder's stream. */
        SentWatchEvent: {
            /** @description The event as JSON: its kind, and what belongs to it. */
            data: string;
            /** @description `watching`, `event`, `lost`, `gone`; or `error` with the body of an error, after which nothing comes. */
            event: string;
        };
        /** @description Which hosts a sandbox may reach from now on. */
        SetNetwork: {
            /** @description Hosts: `example.com`, `*.example.com`, `example.com:443`. Empty: none. Null: those of the profile. */
            allow_hosts?: string[] | null;
        };
        /** @description A shell command to run. */
        ShellExecRequest: {
            /** @description The command, for `bash -lc`. */
            command: string;
            /** @description The folder to run in, relative to `/workspace`. */
            cwd?: string | null;
            /** @description Description, for the history. */
            description?: string | null;
            /** @description Whether the answer includes the command. */
            include_code?: boolean;
            /**
             * @description Sends the output as `output` events of the sandbox while it runs. Each event carries this word, so that a client
             *     recognises its own: 1 to 64 letters, digits, `-` and `_`.
             */
            output_tag?: string | null;
            /** @description Tags, separated by commas. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description The result of a shell command. */
        ShellExecResult: {
            /** @description The command, if requested. */
            command?: string | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description Time it took, in milliseconds.
             */
            execution_time_ms?: number | null;
            /**
             * Format: int32
             * @description Its exit code.
             */
            exit_code?: number | null;
            /** @description Its output. */
            output: string;
            /**
             * @description Whether it is in the history. False: the database could not be written; the entry is added later.
             * @default true
             */
            recorded?: boolean;
            /**
             * Format: int32
             * @description The signal that ended it; null: none.
             */
            signal?: number | null;
            stopped?: components["schemas"]["Stopped"] | null;
            /** @description Whether its exit code is 0. */
            success: boolean;
            /** @description Whether it timed out. */
            timed_out?: boolean;
        };
        /** @description A snapshot to take. */
        SnapshotRequest: {
            /**
             * @description Only interactive elements.
             * @default true
             */
            interactive?: boolean;
            /**
             * Format: int64
             * @description Time limit in seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description Done. */
        Status: {
            /** @description `ok`, `stopped`. */
            status: string;
        };
        /**
         * @description Why something was killed.
         * @enum {string}
         */
        StopCause: "memory_limit" | "disk_limit";
        /** @description Why something was killed, with numbers. */
        Stopped: {
            /** @description Why. */
            cause: components["schemas"]["StopCause"];
            /**
             * Format: int64
             * @description The limit in bytes.
             */
            limit_bytes: number;
            /**
             * Format: int64
             * @description The usage in bytes.
             */
            used_bytes: number;
        };
        /** @description How large a terminal is. */
        TerminalSize: {
            /**
             * Format: int32
             * @description Columns.
             * @default 80
             */
            cols?: number;
            /**
             * Format: int32
             * @description Rows.
             * @default 24
             */
            rows?: number;
        };
        /** @description A client's answer to a tool call: a result or an error. */
        ToolAnswer: {
            /**
             * @description The error that it throws.
             * @default null
             */
            error?: string | null;
            /** @description The result of the tool. */
            result?: unknown;
        };
        /** @description A trace: every step of one call. */
        TraceContent: {
            /**
             * Format: int32
             * @description Number of commands that ran.
             */
            completed_steps: number;
            /** @description One command or several. */
            kind: components["schemas"]["TraceKind"];
            /** @description Each command that ran: `cmd`, `stdout`, `stderr`, `exit_code`, `step_index`, `duration_ms`; long outputs are cut. */
            steps: Record<string, never>[];
            /** @description Whether all ran and succeeded. */
            success: boolean;
            /**
             * Format: int32
             * @description Number of commands in the request.
             */
            total_steps: number;
        };
        /**
         * @description The kind of a trace.
         * @enum {string}
         */
        TraceKind: "browser_exec_trace" | "browser_batch_trace";
        /** @description A file to upload. */
        UploadForm: {
            /**
             * Format: binary
             * @description The bytes.
             */
            file: string;
            /** @description Path relative to `/workspace`; missing folders are created. */
            path: string;
        };
        /** @description An uploaded file. */
        UploadResult: {
            /** @description Relative to `/workspace`. */
            path: string;
            /**
             * Format: int64
             * @description Its size.
             */
            size: number;
            /** @description `ok` */
            status: string;
        };
        /** @description What happens to a watch. */
        WatchFrame: {
            /** @description The first: from here on nothing is missed. */
            watching: Record<string, never>;
        } | {
            /** @description Something has happened. */
            event: components["schemas"]["FolderEvent"];
        } | {
            /**
             * Format: int64
             * @description So many events are lost: too many came at once.
             */
            lost: number;
        } | {
            /** @description Nothing has happened for a while; in a stream of server-sent events, a comment. */
            alive: Record<string, never>;
        } | {
            /** @description The folder itself is gone; nothing more will come. */
            gone: Record<string, never>;
        };
        /** @description A text to write. */
        WriteFile: {
            /** @description The text. */
            content: string;
            /** @description Path relative to `/workspace`; missing folders are created. */
            path: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
