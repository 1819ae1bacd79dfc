import { Fatal } from '../exit.ts'

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
}

/** Why a path could not be used, in words; `undefined`: no failure of the file system that has any. */
export const pathReason = (cause: unknown): string | undefined =>
  reasons[String((cause as NodeJS.ErrnoException).code)]

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
