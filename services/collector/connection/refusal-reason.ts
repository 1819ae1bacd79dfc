import { type RefusalReason, refusalReasons } from '../../core/bars/bar-rules.ts'

const known = new Map(refusalReasons.map((reason) => [`REFUSAL_REASON_${reason}`, reason]))

/** A reason off the wire; one that a newer ingest may know is told as malformed, with its own words beside it. */
export const reasonOf = (wire: string): RefusalReason => known.get(wire) ?? 'MALFORMED'
