import { ResponderBuilder, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'

/** Trailers are a header: longer ones are refused by many peers. */
const detailsLengthMax = 1_024

/**
 * A status may quote what a client sent, and a lone surrogate in it would throw inside the library,
 * outside of any handler.
 */
export const wellFormedStatus: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(
    call,
    new ResponderBuilder()
      .withSendStatus((status, next) =>
        next({ ...status, details: (status.details ?? '').slice(0, detailsLengthMax).toWellFormed() }),
      )
      .build(),
  )
