/** gRPC status codes that Temporal answers with (https://grpc.io/docs/guides/status-codes). */
export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const PERMISSION_DENIED = 7;
export const UNIMPLEMENTED = 12;
export const UNAUTHENTICATED = 16;
