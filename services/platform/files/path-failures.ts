import { Fatal } from '../process/exit.ts'

const readReasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
}

/** The end of a sentence that begins with a path: why the file system rejected it; `undefined` for any other error. */
export function fileReason(cause: unknown): string | undefined {
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)
    ? (readReasons[code] ?? `cannot be read (${code})`)
    : undefined
}

const useReasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ENOENT: 'its folder does not exist',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
}

/** Why a path is unusable, in words; `undefined` for errors of other kinds. */
export const pathReason = (cause: unknown): string | undefined =>
  useReasons[String((cause as NodeJS.ErrnoException).code)]

/** One sentence: why the data folder is unusable, and which variable sets it. */
export function folderFailure(folder: string, cause: unknown): Fatal {
  const { message } = cause as Error
  const reason = pathReason(cause)
  // A message that names the folder was written for a person already.
  if (reason === undefined && message.includes(folder)) return new Fatal('system', message, cause)
  return new Fatal(
    'system',
    `The data folder ${folder} (FXD_DATA_DIR) cannot be used: ${reason ?? message.replace(/\.$/, '')}.`,
    cause,
  )
}
