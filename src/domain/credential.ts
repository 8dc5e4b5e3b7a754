/** True for the id of an API key; other credentials are sessions of people. */
export function isApiKeyId(id: string): boolean {
  return id.startsWith('key_');
}

/** What requested or delivered something, in the details of audit entries and in logs. */
export function credentialDetail(id: string | null): { apiKeyId?: string; sessionId?: string } {
  if (id === null) return {};
  return isApiKeyId(id) ? { apiKeyId: id } : { sessionId: id };
}
