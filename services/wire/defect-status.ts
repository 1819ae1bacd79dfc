import { status } from '@grpc/grpc-js'

/** What a peer hears of a defect; the cause is for the log. */
export const defectStatus = { code: status.INTERNAL, details: 'something went wrong on our side' } as const
