const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
}

/** Ends a sentence that begins with a path: why the file system refused it; `undefined` for any other error. */
export function fileReason(cause: unknown): string | undefined {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)
    ? (reasons[code] ?? `cannot be read (${code})`)
    : undefined
}
