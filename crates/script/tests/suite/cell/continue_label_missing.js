for (;;) { continue nowhere }
