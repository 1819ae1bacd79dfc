import { NotRegular } from '../../../platform/files/open-regular.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import type { Log } from '../../../platform/log/log.ts'
import { SourceFault } from '../source.ts'
import { LayoutError } from './layout.ts'

/** Describes the fault of a file or folder in a sentence that begins with its path; `undefined` for a defect. */
function fileFault(path: string, cause: unknown): string | undefined {
  if (cause instanceof LayoutError) return `${path} is no export: ${cause.message.replace(/\.$/, '')}`
  // The message names the path already.
  if (cause instanceof NotRegular) return cause.message
  const reason = fileReason(cause)
  return reason && `${path} ${reason}`
}

/** Logs the fault in one sentence; a defect with its stack. */
export function warnOfFile(log: Log, path: string, cause: unknown, then: string): void {
  const fault = fileFault(path, cause)
  if (fault === undefined) log.warn({ err: cause, file: path }, `${path} could not be read; ${then}`)
  else log.warn({ file: path }, `${fault}; ${then}`)
}

/** Converts a fault of the path to a `SourceFault`; returns a defect unchanged. */
export function asSourceFault(path: string, cause: unknown): unknown {
  const fault = fileFault(path, cause)
  return fault === undefined ? cause : new SourceFault(fault, { cause })
}
