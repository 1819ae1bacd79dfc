import { type handleUnaryCall, status } from '@grpc/grpc-js'
import { bearerOf, tokenCheck } from '../../wire/bearer.ts'
import type { DrainRequest__Output } from '../../wire/gen/fxd/v1/DrainRequest.ts'
import type { Load } from '../../wire/gen/fxd/v1/Load.ts'
import type { ShardHandlers } from '../../wire/gen/fxd/v1/Shard.ts'
import { defectStatus } from '../../wire/listen.ts'
import type { ShardServerDeps } from './server.ts'

const drainSecondsMax = 3_600

/** The calls of `fxd.v1.Shard`; each answers the load as it is then. */
export function shardService({ stream, notReady, tokens, log }: ShardServerDeps): ShardHandlers {
  const isToken = tokenCheck(tokens)
  const load = (): Load => {
    const { connections, connectionsMax, subscriptions, backlogBytes, forcedCloses } = stream.load()
    const reason = notReady()
    return {
      connections,
      connectionsMax,
      subscriptions,
      backlogBytes,
      ready: reason === undefined,
      notReadyReason: reason ?? '',
      draining: stream.draining.isOn,
      drainSecondsLeft: Math.ceil(stream.draining.leftMs / 1_000),
      forcedCloses,
    }
  }
  /** With the token only; `act` gives a sentence when it refuses what is asked. */
  const answering =
    <Request>(act: (request: Request) => string | undefined): handleUnaryCall<Request, Load> =>
    (call, answer) => {
      try {
        const given = bearerOf(call.metadata)
        if (given === undefined || !isToken(given)) {
          const details = 'this service wants the metadata "authorization: Bearer <token of the shards>"'
          return answer({ code: status.UNAUTHENTICATED, details })
        }
        const refusal = act(call.request)
        if (refusal === undefined) answer(null, load())
        else answer({ code: status.INVALID_ARGUMENT, details: refusal })
      } catch (cause) {
        stream.onFault('shard', cause)
        answer(defectStatus)
      }
    }

  return {
    GetLoad: answering(() => undefined),
    Drain: answering(({ seconds }: DrainRequest__Output) => {
      if (seconds > drainSecondsMax) return `seconds: got ${seconds}, wanted at most ${drainSecondsMax}`
      log.info({ seconds }, 'drains: sockets are sent elsewhere')
      void stream.draining.start(seconds * 1_000)
      return undefined
    }),
    Undrain: answering(() => {
      if (stream.draining.callOff()) log.info('the drain was cancelled')
      else log.info('the drain goes on: the process ends')
      return undefined
    }),
  }
}
