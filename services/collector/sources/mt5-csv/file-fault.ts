import { NotRegular } from '../../../platform/files/open-regular.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import type { Log } from '../../../platform/log/log.ts'
import { SourceFault } from '../source.ts'
import { LayoutError } from './layout.ts'

/** What is wrong with a file or folder, as a sentence that begins with its path; `undefined` for a defect. */
function fileFault(path: string, cause: unknown): string | undefined {
  if (cause instanceof LayoutError) return `${path} is no export: ${cause.message.replace(/\.$/, '')}`
  // Its message names the path.
  if (cause instanceof NotRegular) return cause.message
  const reason = fileReason(cause)
  return reason && `${path} ${reason}`
}

/** Logs it in one sentence; a defect comes with its stack. */
export function warnOfFile(log: Log, path: string, cause: unknown, then: string): void {
  const fault = fileFault(path, cause)
  if (fault === undefined) log.warn({ err: cause, file: path }, `${path} could not be read; ${then}`)
  else log.warn({ file: path }, `${fault}; ${then}`)
}

/** Runs what reads the path: what is wrong with it becomes a `SourceFault`. */
export function asSourceFault(path: string, cause: unknown): unknown {
  const fault = fileFault(path, cause)
  return fault === undefined ? cause : new SourceFault(fault, { cause })
}
