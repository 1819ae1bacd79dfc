import { NotRegular } from '../../../platform/files/open-regular.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import type { OutageFailure } from '../../../platform/outage-log.ts'
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

/** What a log says about it, in one sentence; a defect comes with its stack. */
export function fileFailure(path: string, cause: unknown, then: string): OutageFailure {
  const fault = fileFault(path, cause)
  return fault === undefined
    ? { text: `${path} could not be read; ${then}`, cause }
    : { text: `${fault}; ${then}` }
}

/** Runs what reads the path: what is wrong with it becomes a `SourceFault`. */
export function asSourceFault(path: string, cause: unknown): unknown {
  const fault = fileFault(path, cause)
  return fault === undefined ? cause : new SourceFault(fault, { cause })
}
