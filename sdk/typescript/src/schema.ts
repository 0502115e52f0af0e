// Written by scripts/write-schema.mjs from docs/openapi.json; a change here is lost.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What to note. A field that is absent stays as it is. */
        Annotation: {
            /**
             * @description What it is.
             * @default null
             */
            description?: string | null;
            /**
             * @description Anything else.
             * @default null
             */
            notes?: string | null;
            /**
             * @description Words for it, with commas between.
             * @default null
             */
            tags?: string | null;
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
        /** @description Several commands, one after the other. */
        BrowserBatchRequest: {
            /** @description The commands. */
            commands: string[];
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description Whether a trace is kept. */
            include_trace?: boolean;
            /** @description Whether a skill may be learnt from it: its trace is kept, and is the `payload_ref` of its entry in the history. */
            learn?: boolean;
            /**
             * @description Whether the first failure ends it.
             * @default true
             */
            stop_on_error?: boolean;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds for all of them together.
             * @default 60
             */
            timeout?: number;
        };
        /** @description What the browser said to several commands. */
        BrowserBatchResult: {
            /**
             * Format: int32
             * @description How many ran.
             */
            completed_steps: number;
            /**
             * Format: int64
             * @description How long they took.
             */
            duration_ms: number;
            /** @description Their entry in the history: one for all. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description How long the call took.
             */
            execution_time_ms?: number | null;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
             * @default true
             */
            recorded?: boolean;
            /** @description Each command that ran. */
            results: components["schemas"]["BrowserStep"][];
            /** @description Whether all ran and succeeded. */
            success: boolean;
            /**
             * Format: int32
             * @description How many were asked for.
             */
            total_steps: number;
            /** @description The trace, if asked for. */
            trace_ref?: string | null;
        };
        /** @description One command. */
        BrowserExecRequest: {
            /** @description An agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`. */
            cmd: string;
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description Whether a trace is kept. */
            include_trace?: boolean;
            /** @description Whether a skill may be learnt from it: its trace is kept, and is the `payload_ref` of its entry in the history. */
            learn?: boolean;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description What the browser said. */
        BrowserExecResult: {
            /** @description Why it failed. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            execution_time_ms?: number | null;
            /**
             * Format: int32
             * @description Its exit code; −1: out of time.
             */
            exit_code?: number | null;
            /** @description What it wrote. A page's words are in it: not to be trusted. */
            output: string;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
             * @default true
             */
            recorded?: boolean;
            /** @description Standard error. */
            stderr: string;
            /** @description Standard output. */
            stdout: string;
            /** @description Whether its exit code is 0. */
            success: boolean;
            /** @description The trace, if asked for. */
            trace_ref?: string | null;
        };
        /** @description A replay of a skill. */
        BrowserSkillRequest: {
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description Whether a trace is kept. */
            include_trace?: boolean;
            /**
             * @description Whether the first failure ends it.
             * @default true
             */
            stop_on_error?: boolean;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds for all of it.
             * @default 60
             */
            timeout?: number;
        };
        /** @description What a replay did. */
        BrowserSkillResult: {
            /**
             * Format: int32
             * @description How many ran.
             */
            completed_steps: number;
            /**
             * Format: int64
             * @description How long they took.
             */
            duration_ms: number;
            /** @description Its entry in the history. */
            execution_id: string;
            /**
             * Format: int64
             * @description How long the call took.
             */
            execution_time_ms: number;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
             * @default true
             */
            recorded?: boolean;
            /** @description The release that was replayed. */
            release_id: string;
            /** @description Each command that ran. */
            results: components["schemas"]["BrowserStep"][];
            /** @description The skill. */
            skill_key: string;
            /** @description Whether all ran and succeeded. */
            success: boolean;
            /**
             * Format: int32
             * @description How many there are.
             */
            total_steps: number;
            /** @description The trace, if asked for. */
            trace_ref?: string | null;
        };
        /** @description One command of several. */
        BrowserStep: {
            /** @description The command. */
            cmd: string;
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /**
             * Format: int32
             * @description Its exit code.
             */
            exit_code: number;
            /** @description Standard error. */
            stderr: string;
            /** @description Standard output. */
            stdout: string;
            /**
             * Format: int32
             * @description Its place, from 0.
             */
            step_index: number;
        };
        /** @description A trace that was kept. */
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
            /** @description Whether it may be released without a person. */
            auto_release_eligible: boolean;
            /** @description Why it may or may not. */
            auto_release_reason?: string | null;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description Whose it is. */
            created_by?: string | null;
            /** @description Why. */
            delete_reason?: string | null;
            deleted_at?: components["schemas"]["Moment"] | null;
            /** @description By whom. */
            deleted_by?: string | null;
            /** @description `sc-` and 12 hex digits. */
            id: string;
            /** @description Whether it is gone. */
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
            /** @description What holds after. */
            postconditions?: Record<string, never> | null;
            /** @description What must hold before. */
            preconditions?: Record<string, never> | null;
            /** @description Its release, unless that was deleted. */
            promotion_release_id?: string | null;
            /** @description What it is for. */
            scenario_key?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description `code` or `browser`. */
            skill_type: string;
            /** @description The executions that it comes from. */
            source_execution_ids: string[];
            /** @description Where it is in its life. */
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
             * @description How many there are in all.
             */
            total: number;
        };
        /**
         * @description A candidate's life.
         * @enum {string}
         */
        CandidateStatus: "draft" | "evaluating" | "promoted" | "promoted_canary" | "promoted_stable" | "rejected" | "rolled_back";
        /** @description A cargo. */
        CargoInfo: {
            /** @description What holds it, and how its limit is kept: `local+loop`, `local+watch`, … */
            backend: string;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            /** @description `ws-` and 12 hex digits. */
            id: string;
            /** @description When a sandbox last used it. */
            last_accessed_at: components["schemas"]["Moment"];
            /** @description Whether it was made for a sandbox and goes with it. */
            managed: boolean;
            /** @description That sandbox. */
            managed_by_sandbox_id?: string | null;
            /**
             * Format: int32
             * @description What may be in it.
             */
            size_limit_mb: number;
        };
        /** @description A page of cargos. */
        CargoList: {
            /** @description The cargos of this page. */
            items: components["schemas"]["CargoInfo"][];
            /** @description For the next page; none: this was the last. */
            next_cursor?: string | null;
        };
        /** @description What to click. */
        ClickRequest: {
            /** @description `@e1`, from the last snapshot. */
            ref: string;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description One container of a session. */
        ContainerInfo: {
            /** @description What it can do. */
            capabilities: string[];
            /** @description Whether it answers; none: not asked. */
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
        /** @description One container of a profile. */
        ContainerProfile: {
            /** @description What it can do. */
            capabilities: string[];
            /** @description Its name. */
            name: string;
            /** @description What it may use. */
            resources: components["schemas"]["Resources"];
            /** @description `ship` or `gull`. */
            runtime_type: string;
        };
        /** @description A wish for a candidate. */
        CreateCandidate: {
            /** @description Its payload: of ours (`blob:…`) or the caller's own reference, which cannot be replayed here. */
            payload_ref?: string | null;
            /** @description What holds after. */
            postconditions?: Record<string, never> | null;
            /** @description What must hold before. */
            preconditions?: Record<string, never> | null;
            /** @description What it is for. */
            scenario_key?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description The executions that it comes from; the caller's own. */
            source_execution_ids: string[];
            /** @description What it does. */
            summary?: string | null;
            /** @description How to use it. */
            usage_notes?: string | null;
        };
        /** @description A wish for a cargo. */
        CreateCargo: {
            /**
             * Format: int32
             * @description What may be in it; none: as configured.
             * @default null
             */
            size_limit_mb?: number | null;
        };
        /** @description A payload to keep. */
        CreatePayload: {
            /**
             * @description What kind of payload.
             * @default generic
             */
            kind?: string;
            /** @description An object or an array. */
            payload: unknown;
        };
        /** @description A wish for a sandbox. */
        CreateSandbox: {
            /**
             * @description A cargo that is there already; none: a new one that goes with the sandbox.
             * @default null
             */
            cargo_id?: string | null;
            /**
             * @description Which profile.
             * @default python-default
             */
            profile?: string;
            /**
             * Format: int64
             * @description Seconds until its end; none or 0: for ever.
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
            /** @description By whom. */
            deleted_by?: string | null;
            /** @description Its id. */
            id: string;
        };
        /** @description Why something is deleted. */
        DeleteRequest: {
            /**
             * @description In words.
             * @default null
             */
            reason?: string | null;
        };
        /** @description A folder's entries, hidden ones too. */
        DirectoryList: {
            /** @description The entries. */
            entries: components["schemas"]["FileInfo"][];
        };
        /** @description Which engine ran, and why. */
        EngineUsed: {
            /** @description Why this one. */
            because: string;
            /** @description `embedded` or `browser`. */
            name: string;
        };
        /** @description Every error's body. */
        ErrorBody: {
            /** @description The error. */
            error: components["schemas"]["ErrorDetail"];
        };
        /**
         * @description The stable code of an error.
         * @enum {string}
         */
        ErrorCode: "not_found" | "unauthorized" | "forbidden" | "quota_exceeded" | "session_not_ready" | "timeout" | "ship_error" | "conflict" | "sandbox_expired" | "sandbox_ttl_infinite" | "validation_error" | "file_not_found" | "capability_not_supported" | "invalid_path" | "internal_error";
        /** @description What is in an error's body. */
        ErrorDetail: {
            /** @description The stable code. */
            code: components["schemas"]["ErrorCode"];
            /** @description What a program may want to know. */
            details?: Record<string, never> | null;
            /** @description One sentence, never empty. */
            message: string;
            /** @description The request's id, as in `X-Request-Id`. */
            request_id: string;
        };
        /** @description What an evaluation found. */
        Evaluate: {
            /** @description What it was tried on. */
            benchmark_id?: string | null;
            /** @description Whether it passed. */
            passed: boolean;
            /** @description In words. */
            report?: string | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            score?: number | null;
        };
        /** @description An evaluation. */
        EvaluationInfo: {
            /** @description What it was tried on. */
            benchmark_id?: string | null;
            /** @description Of which candidate. */
            candidate_id: string;
            /** @description When. */
            created_at: components["schemas"]["Moment"];
            /** @description Who evaluated. */
            evaluated_by?: string | null;
            /** @description `se-` and 12 hex digits. */
            id: string;
            /** @description Whether it passed. */
            passed: boolean;
            /** @description In words. */
            report?: string | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            score?: number | null;
        };
        /** @description One event. Its number is the `id` of the server-sent event, by which a reader resumes. */
        Event: {
            /** @description When. */
            at: components["schemas"]["Moment"];
            /** @description What. */
            data: Record<string, never>;
            /** @description What kind. */
            kind: components["schemas"]["EventKind"];
            /**
             * Format: int64
             * @description Counts up in each sandbox.
             */
            seq: number;
        };
        /**
         * @description What kind of thing happened.
         * @enum {string}
         */
        EventKind: "state" | "run_started" | "console" | "tool_call" | "run_finished" | "gap";
        /**
         * @description What kind of work ran.
         * @enum {string}
         */
        ExecType: "python" | "shell" | "javascript" | "browser" | "browser_batch";
        /** @description A wish for more time. */
        ExtendTtl: {
            /**
             * Format: int64
             * @description Seconds, counted from its end or from now, whichever is later.
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
            /** @description The text; whatever is in it, it is text. */
            text: string;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description What the collector did. */
        GcReport: {
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /** @description One report for each task. */
            results: components["schemas"]["GcTaskReport"][];
            /**
             * Format: int64
             * @description Things cleaned away in all.
             */
            total_cleaned: number;
            /**
             * Format: int64
             * @description Faults in all.
             */
            total_errors: number;
        };
        /** @description Which of the collector's tasks to run now. */
        GcRequest: {
            /**
             * @description Only these; none: all that are enabled.
             * @default null
             */
            tasks?: string[] | null;
        };
        /** @description The collector. */
        GcStatus: {
            /** @description Whether it runs by itself. */
            enabled: boolean;
            /** @description Which Bay this is. */
            instance_id: string;
            /**
             * Format: int64
             * @description How often it runs.
             */
            interval_seconds: number;
            /** @description Whether it is at work now. */
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
             * @description How many things were cleaned away.
             */
            cleaned: number;
            /** @description What went wrong. */
            errors: string[];
            /**
             * Format: int64
             * @description How many were looked at and left.
             */
            skipped: number;
            /** @description `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, … */
            task: string;
        };
        /** @description Bay is there. */
        Health: {
            /** @description `ok` */
            status: string;
            /** @description Cove's version. */
            version: string;
        };
        /** @description One execution. */
        HistoryEntry: {
            /** @description What ran. */
            code: string;
            /** @description When it ran. */
            created_at: components["schemas"]["Moment"];
            /** @description What the caller said it is. */
            description?: string | null;
            /** @description Why it failed, cut to a limit. */
            error?: string | null;
            /** @description What kind of work it was. */
            exec_type: components["schemas"]["ExecType"];
            /**
             * Format: int64
             * @description How long it took.
             */
            execution_time_ms: number;
            /** @description `exec-` and 12 hex digits. */
            id: string;
            /** @description Whether a skill may be learnt from it. */
            learn_enabled: boolean;
            /** @description Why learning failed. */
            learn_error?: string | null;
            learn_processed_at?: components["schemas"]["Moment"] | null;
            /** @description `pending`, `processed`, `error`; none: not to be learnt. */
            learn_status?: string | null;
            /** @description What was noted later. */
            notes?: string | null;
            /** @description What it said, cut to a limit. */
            output?: string | null;
            /** @description The payload that holds more, such as a trace. */
            payload_ref?: string | null;
            /** @description The session it ran in. */
            session_id?: string | null;
            /** @description Whether it succeeded. */
            success: boolean;
            /** @description The caller's words for it, with commas between. */
            tags?: string | null;
        };
        /** @description A page of the history. */
        HistoryList: {
            /** @description Newest first. */
            entries: components["schemas"]["HistoryEntry"][];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
        };
        /** @description The rich form of what JavaScript said. */
        JavaScriptData: {
            engine?: components["schemas"]["EngineUsed"] | null;
            /** @description Pictures that were drawn, as artifacts. */
            images: components["schemas"]["JavaScriptImage"][];
            /** @description Whether the session said that this is its final answer. */
            is_final?: boolean;
            /** @description Console lines. */
            logs: string;
            /** @description The value; with a failure, what `run_javascript` answers (`error`, `message`, `line`, `frame`, …). */
            result: unknown;
            /** @description What else is worth knowing: why another engine ran than the one asked for, that a session's state is lost, … */
            warnings?: string[];
        };
        /** @description JavaScript or TypeScript to run. */
        JavaScriptExecRequest: {
            /** @description A function body; with a session, statements whose last value is the result. */
            code: string;
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description `embedded`, `browser` or `auto` (the default). */
            engine?: string | null;
            /** @description Whether the answer repeats the code. */
            include_code?: boolean;
            /** @description The variable `input`. */
            input?: unknown;
            /** @description `true` keeps state between calls; a name keeps a session of that name. */
            session?: unknown;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
            /**
             * @description Tools that the caller answers itself: each call appears as a `tool_call` event of the sandbox, and is answered at
             *     `/v1/sandboxes/{id}/javascript/tools/{call_id}`.
             */
            tools?: components["schemas"]["RemoteTool"][];
        };
        /** @description What JavaScript said. */
        JavaScriptExecResult: {
            /** @description The code, if asked for. */
            code?: string | null;
            data?: components["schemas"]["JavaScriptData"] | null;
            /** @description The error with its code frame. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            execution_time_ms?: number | null;
            /** @description Console lines, then the value, as text. */
            output: string;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
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
             * @description Pixels down.
             */
            height?: number | null;
            /** @description `image/png` */
            media_type: string;
            /** @description Its artifact: download it at `/v1/sandboxes/{id}/artifacts/{name}`. */
            name: string;
            /**
             * Format: int32
             * @description Pixels across.
             */
            width?: number | null;
        };
        /** Format: date-time */
        Moment: string;
        /** @description Where to go. */
        NavigateRequest: {
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
            /** @description The address. */
            url: string;
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
        /** @description A profile. */
        ProfileInfo: {
            /** @description What it can do. */
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
            /** @description The first container's image; means nothing to the local driver. */
            image: string;
            /** @description What its first container may use. */
            resources: components["schemas"]["Resources"];
        };
        /** @description All profiles. */
        ProfileList: {
            /** @description The profiles. */
            items: components["schemas"]["ProfileInfo"][];
        };
        /** @description A wish for a release. The candidate's last evaluation must have passed. */
        Promote: {
            /** @description What is new. */
            change_summary?: string | null;
            /** @description How far. */
            stage?: components["schemas"]["ReleaseStage"];
            /** @description The release that it replaces. */
            upgrade_of_release_id?: string | null;
            /** @description Why. */
            upgrade_reason?: string | null;
        };
        /** @description The rich form of what Python said. */
        PythonData: {
            /**
             * Format: int64
             * @description How many pieces of code this interpreter has run.
             */
            execution_count?: number | null;
            /** @description Text and pictures. */
            output: components["schemas"]["PythonOutput"];
        };
        /** @description Python to run. */
        PythonExecRequest: {
            /** @description The code. State is kept between calls. */
            code: string;
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description Whether the answer repeats the code. */
            include_code?: boolean;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description What Python said. */
        PythonExecResult: {
            /** @description The code, if asked for. */
            code?: string | null;
            data?: components["schemas"]["PythonData"] | null;
            /** @description The error with its traceback. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            execution_time_ms?: number | null;
            /** @description What it printed, and the last expression's value. */
            output: string;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
             * @default true
             */
            recorded?: boolean;
            /**
             * Format: int32
             * @description The signal that ended the interpreter; none: none has.
             */
            signal?: number | null;
            /** @description Whether the interpreter had to be replaced: variables and imports are gone. */
            state_lost?: boolean;
            stopped?: components["schemas"]["Stopped"] | null;
            /** @description Whether it ended without an error. */
            success: boolean;
            /** @description Whether it was ended because its time was over. */
            timed_out?: boolean;
        };
        /** @description Text and pictures. */
        PythonOutput: {
            /** @description Pictures: a media type and base64 each. */
            images: Record<string, never>[];
            /** @description The text. */
            text: string;
        };
        /** @description How a release does, beside what was before it. */
        ReleaseHealth: {
            /**
             * Format: double
             * @description The release before it: failures.
             */
            baseline_error_rate: number;
            /**
             * Format: int64
             * @description The release before it: replays seen.
             */
            baseline_samples: number;
            /**
             * Format: double
             * @description The release before it: successes.
             */
            baseline_success_rate: number;
            /**
             * Format: double
             * @description How many failed, from 0 to 1.
             */
            error_rate: number;
            /**
             * Format: double
             * @description How many times as often it fails.
             */
            error_rate_multiplier: number;
            /** @description Whether all is well. */
            healthy: boolean;
            /**
             * Format: int64
             * @description The slowest but for one in twenty, in milliseconds.
             */
            p95_duration: number;
            /** @description Which release. */
            release_id: string;
            /** @description Why. */
            rollback_reasons: string[];
            /**
             * Format: int64
             * @description How many replays were seen.
             */
            samples: number;
            /** @description Whether it should be taken back. */
            should_rollback: boolean;
            /** @description The skill's name. */
            skill_key: string;
            /** @description How far it goes. */
            stage: string;
            /**
             * Format: double
             * @description By how much successes fell.
             */
            success_drop: number;
            /**
             * Format: double
             * @description How many of them succeeded, from 0 to 1.
             */
            success_rate: number;
            /** @description What is held to be well. */
            thresholds: Record<string, never>;
            /** @description Whether that time is over. */
            window_complete: boolean;
            /** @description Watched until. */
            window_end_at: components["schemas"]["Moment"];
            /** @description Watched from. */
            window_start_at: components["schemas"]["Moment"];
        };
        /** @description A release. */
        ReleaseInfo: {
            /** @description The canary that it came from. */
            auto_promoted_from?: string | null;
            /** @description The candidate that was released. */
            candidate_id: string;
            /** @description What is new. */
            change_summary?: string | null;
            /** @description Why. */
            delete_reason?: string | null;
            deleted_at?: components["schemas"]["Moment"] | null;
            /** @description By whom. */
            deleted_by?: string | null;
            health_window_end_at?: components["schemas"]["Moment"] | null;
            /** @description `sr-` and 12 hex digits. */
            id: string;
            /** @description Whether it is the one in use: the one of its skill that was released last. */
            is_active: boolean;
            /** @description Whether it is gone. */
            is_deleted: boolean;
            /** @description When. */
            promoted_at: components["schemas"]["Moment"];
            /** @description Who released it. */
            promoted_by?: string | null;
            /** @description `manual` or `auto`. */
            release_mode: string;
            /** @description The release that this one takes back. */
            rollback_of?: string | null;
            /** @description The skill's name. */
            skill_key: string;
            /** @description How far. */
            stage: components["schemas"]["ReleaseStage"];
            /** @description The release that it replaces. */
            upgrade_of_release_id?: string | null;
            /** @description Why. */
            upgrade_reason?: string | null;
            /**
             * Format: int64
             * @description Counts up in each skill.
             */
            version: number;
        };
        /** @description A page of releases. */
        ReleaseList: {
            /** @description Newest first. */
            items: components["schemas"]["ReleaseInfo"][];
            /**
             * Format: int64
             * @description How many there are in all.
             */
            total: number;
        };
        /**
         * @description How far a release goes.
         * @enum {string}
         */
        ReleaseStage: "canary" | "stable";
        /** @description A tool that the caller answers itself. */
        RemoteTool: {
            /** @description What it does. */
            description?: string;
            /** @description The name of the function that guest code calls. */
            name: string;
        };
        /** @description What a container may use. */
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
            /** @description What the profile can do. */
            capabilities: string[];
            /** @description Its cargo: what is in `/workspace`. */
            cargo_id: string;
            /** @description Its session's containers, while it has a session. */
            containers?: components["schemas"]["ContainerInfo"][] | null;
            /** @description When it was made. */
            created_at: components["schemas"]["Moment"];
            expires_at?: components["schemas"]["Moment"] | null;
            /** @description `sandbox-` and 12 hex digits. */
            id: string;
            idle_expires_at?: components["schemas"]["Moment"] | null;
            /** @description The profile it was made with. */
            profile: string;
            /** @description What it is doing. */
            status: components["schemas"]["SandboxStatus"];
            /** @description What its operator should know, such as `memory: watched, not enforced`. */
            warnings?: string[];
        };
        /** @description A page of sandboxes. */
        SandboxList: {
            /** @description The sandboxes of this page. */
            items: components["schemas"]["SandboxInfo"][];
            /** @description For the next page; none: this was the last. */
            next_cursor?: string | null;
        };
        /**
         * @description What a sandbox is doing.
         * @enum {string}
         */
        SandboxStatus: "idle" | "starting" | "ready" | "failed" | "expired";
        /** @description The body of 422: what was sent does not parse, or does not fit its schema. */
        SchemaErrors: {
            /** @description Each problem. */
            detail: components["schemas"]["SchemaProblem"][];
        };
        /** @description One problem with what was sent. */
        SchemaProblem: {
            /** @description Where: `body`, `query` or `path`, then names and positions. */
            loc: unknown[];
            /** @description What is wrong. */
            msg: string;
            /** @description What kind of wrong: `missing`, `json_invalid`, `value_error`, … */
            type: string;
        };
        /** @description A picture of the page. */
        ScreenshotRequest: {
            /** @description The whole page, not only what is seen of it. */
            full_page?: boolean;
            /** @description Relative to `/workspace`; none: a new name there. */
            path?: string | null;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description An event as the stream has it. */
        SentEvent: {
            /** @description The whole event as JSON. */
            data: string;
            event: ("state" | "run_started" | "console" | "tool_call" | "run_finished" | "gap") & Record<string, never>;
            /** @description Its number. */
            id: string;
        };
        /** @description A shell command to run. */
        ShellExecRequest: {
            /** @description The command, for `bash -lc`. */
            command: string;
            /** @description The folder to run in, relative to `/workspace`. */
            cwd?: string | null;
            /** @description What it is, for the history. */
            description?: string | null;
            /** @description Whether the answer repeats the command. */
            include_code?: boolean;
            /** @description Words for it, with commas between. */
            tags?: string | null;
            /**
             * Format: int64
             * @description Seconds.
             * @default 30
             */
            timeout?: number;
        };
        /** @description What the shell said. */
        ShellExecResult: {
            /** @description The command, if asked for. */
            command?: string | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description Its entry in the history. */
            execution_id?: string | null;
            /**
             * Format: int64
             * @description How long it took.
             */
            execution_time_ms?: number | null;
            /**
             * Format: int32
             * @description Its exit code.
             */
            exit_code?: number | null;
            /** @description What it wrote. */
            output: string;
            /**
             * @description Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
             * @default true
             */
            recorded?: boolean;
            /**
             * Format: int32
             * @description The signal that ended it; none: none has.
             */
            signal?: number | null;
            stopped?: components["schemas"]["Stopped"] | null;
            /** @description Whether its exit code is 0. */
            success: boolean;
            /** @description Whether it was ended because its time was over. */
            timed_out?: boolean;
        };
        /** @description What to see of the page. */
        SnapshotRequest: {
            /**
             * @description Only what can be used.
             * @default true
             */
            interactive?: boolean;
            /**
             * Format: int64
             * @description Seconds.
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
         * @description Why something was ended by force.
         * @enum {string}
         */
        StopCause: "memory_limit" | "disk_limit";
        /** @description An ending by force. */
        Stopped: {
            /** @description Why. */
            cause: components["schemas"]["StopCause"];
            /**
             * Format: int64
             * @description What may be used, in bytes.
             */
            limit_bytes: number;
            /**
             * Format: int64
             * @description What was used, in bytes.
             */
            used_bytes: number;
        };
        /** @description A client's answer to a tool call: a result or an error. */
        ToolAnswer: {
            /**
             * @description What it throws instead.
             * @default null
             */
            error?: string | null;
            /** @description What the tool gives back. */
            result?: unknown;
        };
        /** @description Every step of one call. */
        TraceContent: {
            /**
             * Format: int32
             * @description How many ran.
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
             * @description How many were asked for.
             */
            total_steps: number;
        };
        /**
         * @description What kind of call a trace is of.
         * @enum {string}
         */
        TraceKind: "browser_exec_trace" | "browser_batch_trace";
        /** @description A file and where it goes. */
        UploadForm: {
            /**
             * Format: binary
             * @description The bytes.
             */
            file: string;
            /** @description Relative to `/workspace`; folders on the way are made. */
            path: string;
        };
        /** @description A file was taken in. */
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
        /** @description A text to write. */
        WriteFile: {
            /** @description The text. */
            content: string;
            /** @description Relative to `/workspace`; folders on the way are made. */
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
