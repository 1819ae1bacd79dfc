import { ResponderBuilder, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'

/** Maximum characters of a status message: trailers are a header, and many peers refuse longer ones. */
const detailsLengthMax = 1_024

/** Makes status texts well-formed: they may quote a client, and a lone surrogate throws inside the library. */
export const wellFormedStatus: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(
    call,
    new ResponderBuilder()
      .withSendStatus((sent, next) =>
        next({ ...sent, details: (sent.details ?? '').slice(0, detailsLengthMax).toWellFormed() }),
      )
      .build(),
  )
