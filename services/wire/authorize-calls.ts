import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  type StatusObject,
} from '@grpc/grpc-js'
import { defectStatus } from './listen.ts'

export type CallRefusal = Pick<StatusObject, 'code' | 'details'>

/** Returns why the call is refused. */
export type CallCheck = (
  path: string,
  metadata: Metadata,
  call: ServerInterceptingCallInterface,
) => Promise<CallRefusal | undefined>

/**
 * Delays each call until it is authorized, and ends a refused call. The check runs when the metadata arrives,
 * because an unauthorized client may never send its message. `passed` is called for each authorized call.
 */
export const authorizeCalls =
  (check: CallCheck, passed: (path: string, peer: string) => void): ServerInterceptor =>
  ({ path }, call) => {
    let isRefused = false
    const end = (refusal: CallRefusal): void => {
      isRefused = true
      call.sendStatus({ ...refusal, metadata: new Metadata() })
    }
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, pass) => {
        check(path, metadata, call).then(
          (refusal) => {
            if (refusal) return end(refusal)
            passed(path, call.getPeer())
            pass(metadata)
          },
          () => end(defectStatus),
        )
      })
      .withOnReceiveMessage((message, pass) => {
        if (!isRefused) pass(message)
      })
      .withOnReceiveHalfClose((pass) => {
        if (!isRefused) pass()
      })
      .build()
    return new ServerInterceptingCall(call, { start: (next) => next(listener) })
  }
