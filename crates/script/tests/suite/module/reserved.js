export const __cove_exports = 1
