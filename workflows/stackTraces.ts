/**
 * The SDK takes a stack for every promise of a workflow, for its Stack Trace in the Temporal UI. Five frames show who waits
 * for what; with the ten of V8 a workflow takes a tenth more processor time.
 */
Error.stackTraceLimit = 5;
