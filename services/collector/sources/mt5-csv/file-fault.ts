import { NotRegular } from '../../../platform/files/open-regular.ts'
import { fileReason } from '../../../platform/files/path-failures.ts'
import type { OutageFailure } from '../../../platform/outage-log.ts'
import { SourceFault } from '../../source.ts'
import { LayoutError } from './export/layout.ts'

/** Describes the fault of a file or folder in a sentence that begins with its path; `undefined` for a defect. */
function fileFault(path: string, cause: unknown): string | undefined {
  if (cause instanceof LayoutError) return `${path} is not an export: ${cause.message.replace(/\.$/, '')}`
  // The message names the path already.
  if (cause instanceof NotRegular) return cause.message
  const reason = fileReason(cause)
  return reason && `${path} ${reason}`
}

/** Fields of a failed read for the log: the fault in a sentence, or the cause of a defect, shown with its stack. */
export function failureOf(path: string, cause: unknown): Pick<OutageFailure, 'why' | 'cause'> {
  const why = fileFault(path, cause)
  return why === undefined ? { cause } : { why }
}

/** Converts a fault of the path to a `SourceFault`; returns a defect unchanged. */
export function asSourceFault(path: string, cause: unknown): unknown {
  const fault = fileFault(path, cause)
  return fault === undefined ? cause : new SourceFault(fault, { cause })
}
