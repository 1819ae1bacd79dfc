import { createHash, timingSafeEqual } from 'node:crypto'
import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Lets a call through only with `authorization: Bearer <token>`, before any service sees it. Compared
 * as digests in constant time: neither the token's length nor its beginning shows in the timing.
 */
export function requireToken(token: string): ServerInterceptor {
  const wanted = sha256(token)
  const isAuthorized = (metadata: Metadata): boolean => {
    const [given, ...more] = metadata.get('authorization')
    const match = typeof given === 'string' && more.length === 0 ? /^bearer +(\S+)$/i.exec(given) : null
    return match?.[1] !== undefined && timingSafeEqual(sha256(match[1]), wanted)
  }
  return (_method, call) => {
    let refused = false
    return new ServerInterceptingCall(call, {
      start(next) {
        next(
          new ServerListenerBuilder()
            .withOnReceiveMetadata((metadata, pass) => {
              if (isAuthorized(metadata)) return pass(metadata)
              refused = true
              call.sendStatus({
                code: status.UNAUTHENTICATED,
                details: 'this service wants the metadata "authorization: Bearer <token>" with its own token',
                metadata: new Metadata(),
              })
            })
            .withOnReceiveMessage((message, pass) => {
              if (!refused) pass(message)
            })
            .withOnReceiveHalfClose((pass) => {
              if (!refused) pass()
            })
            .build(),
        )
      },
    })
  }
}
