/**
 * The SDK captures a stack trace for every promise of a workflow, for the Stack Trace in the Temporal UI. Five frames show who
 * waits for what; with the ten of V8 a workflow takes 10 % more CPU time. Evaluated once, before the SDK freezes `Error`.
 */
Error.stackTraceLimit = 5;
