import { type handleUnaryCall, status } from '@grpc/grpc-js'
import type { Log } from '../../platform/log/log.ts'
import type { DrainRequest__Output } from '../../wire/gen/fxd/v1/DrainRequest.ts'
import type { Load } from '../../wire/gen/fxd/v1/Load.ts'
import type { ShardHandlers } from '../../wire/gen/fxd/v1/Shard.ts'
import { defectStatus } from '../../wire/listen.ts'
import type { Stream } from '../stream.ts'

const drainSecondsMax = 3_600

export interface ShardServiceDeps {
  readonly stream: Pick<Stream, 'load' | 'draining' | 'onFault'>
  /** The reason that `/readyz` gives. */
  readonly notReady: () => string | undefined
  readonly log: Log
}

/** The calls of `fxd.v1.Shard`; each answers the current load. */
export function shardService({ stream, notReady, log }: ShardServiceDeps): ShardHandlers {
  const load = (): Load => {
    const reason = notReady()
    return {
      ...stream.load(),
      ready: reason === undefined,
      notReadyReason: reason ?? '',
      draining: stream.draining.isOn,
      drainSecondsLeft: Math.ceil(stream.draining.leftMs / 1_000),
    }
  }
  /** `act` returns a sentence if it refuses the request. */
  const answering =
    <Request>(act: (request: Request) => string | undefined): handleUnaryCall<Request, Load> =>
    (call, answer) => {
      try {
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
      log.info({ seconds }, 'drain started: sockets are closed with 1012 a few at a time')
      void stream.draining.start(seconds * 1_000)
      return undefined
    }),
    Undrain: answering(() => {
      if (stream.draining.cancel()) log.info('drain cancelled; the shard accepts new sockets')
      else log.info('Undrain rejected: the process is ending')
      return undefined
    }),
  }
}
