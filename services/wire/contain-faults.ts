import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js'

/** What a peer hears of a defect; the cause is for the log. */
export const defectStatus = { code: status.INTERNAL, details: 'something went wrong on our side' } as const

/**
 * A defect that a message meets in its handler ends that call with INTERNAL. Without this it would leave
 * the library as an exception that ends the process. It must be the last of a server's interceptors.
 */
export const containFaults =
  (onFault: (cause: unknown) => void): ServerInterceptor =>
  (_method, call) => {
    const attempt = (run: () => void): void => {
      try {
        run()
      } catch (cause) {
        onFault(cause)
        call.sendStatus({ ...defectStatus, metadata: new Metadata() })
      }
    }
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, pass) => attempt(() => pass(metadata)))
      .withOnReceiveMessage((message, pass) => attempt(() => pass(message)))
      .withOnReceiveHalfClose((pass) => attempt(pass))
      .build()
    return new ServerInterceptingCall(call, { start: (next) => next(listener) })
  }
