import { Fatal } from '../exit.ts'

const readReasons: Readonly<Record<string, string>> = {
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
    ? (readReasons[code] ?? `cannot be read (${code})`)
    : undefined
}

const useReasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
}

/** Why a path could not be used, in words; `undefined`: no failure of the file system that has any. */
export const pathReason = (cause: unknown): string | undefined =>
  useReasons[String((cause as NodeJS.ErrnoException).code)]

/** Says in one sentence why the data folder cannot be used, and names the variable. */
export function folderFailure(folder: string, cause: unknown): Fatal {
  const { message } = cause as Error
  const reason = pathReason(cause)
  // A sentence about the folder that was written for a person stays as it is.
  if (reason === undefined && message.includes(folder)) return new Fatal('system', message, cause)
  return new Fatal(
    'system',
    `The data folder ${folder} (FXD_DATA_DIR) cannot be used: ${reason ?? message.replace(/\.$/, '')}.`,
    cause,
  )
}
