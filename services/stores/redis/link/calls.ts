import type { Unavailable } from '../../../core/failure.ts'
import { LimitedLog } from '../../../platform/log/limited-log.ts'
import { Late, within } from '../../../platform/within.ts'
import type { Script } from '../scripts.ts'
import type { Connection, ConnectionDeps, Ready } from './connection.ts'
import { isNoScript, isWrongPlace, NotCarriedOut, OutcomeUnknown, outcomeOf } from './outcomes.ts'

/** Placeholder in a call for the `run_id` of the server that receives it. */
export const serverRun: unique symbol = Symbol('the run of the server')
export type Word = string | number | Buffer | typeof serverRun

/** Maximum calls under way; a further call is rejected, because it would hardly be answered in time. */
const callsMax = 20_000

interface Call {
  readonly words: readonly Word[]
  /** Set for a script, whose text is sent to a server that does not know it. */
  readonly script: Script | undefined
  readonly resolve: (reply: unknown) => void
  readonly reject: (cause: Unavailable) => void
}

interface CallsDeps extends Pick<ConnectionDeps, 'clock' | 'log'> {
  readonly deadlineMs: number
  /** Called with the number of calls with an unknown outcome. */
  readonly onUnknown: (count: number) => void
}

/**
 * Sends the calls of one turn of the event loop together, in their order. Each ends within the deadline: with a reply,
 * as `NotCarriedOut`, or as `OutcomeUnknown`. No call is ever sent twice.
 */
export class Calls {
  readonly #connection: Connection
  readonly #deps: CallsDeps
  readonly #limitedLog: LimitedLog
  #turn: Call[] = []
  #underWay = 0

  constructor(connection: Connection, deps: CallsDeps) {
    this.#connection = connection
    this.#deps = deps
    this.#limitedLog = new LimitedLog(deps.log, deps.clock)
  }

  script(script: Script, keys: readonly string[], args: readonly Word[]): Promise<unknown> {
    return this.#add(['evalsha', script.sha, keys.length, ...keys, ...args], script)
  }

  /** The first word is the command's name in lower case. */
  command(...words: Word[]): Promise<unknown> {
    return this.#add(words)
  }

  #add(words: readonly Word[], script?: Script): Promise<unknown> {
    if (this.#underWay >= callsMax) return Promise.reject(new NotCarriedOut(new Error('too many calls')))
    this.#underWay += 1
    if (this.#turn.length === 0) this.#deps.clock.soon(() => void this.#send())
    return new Promise<unknown>((resolve, reject) => {
      this.#turn.push({ words, script, resolve, reject })
    }).finally(() => {
      this.#underWay -= 1
    })
  }

  /** Sends the waiting calls now, not at the end of this turn. */
  flush(): void {
    void this.#send()
  }

  async #send(): Promise<void> {
    const calls = this.#turn
    if (calls.length === 0) return
    this.#turn = []
    const ready = this.#connection.ready
    if (ready === undefined || ready.redis.status !== 'ready') {
      for (const { reject } of calls) reject(new NotCarriedOut())
      return
    }
    const { clock, deadlineMs } = this.#deps
    try {
      const replies = await within(clock, deadlineMs, 'a call of Redis', exchange(ready, calls))
      this.#settle(ready, calls, replies)
    } catch (cause) {
      this.#deps.onUnknown(calls.length)
      for (const { reject } of calls) reject(new OutcomeUnknown(cause))
      // A server that is silent now would delay each later call until its deadline.
      if (cause instanceof Late) this.#connection.drop(ready, cause)
    }
  }

  #settle(ready: Ready, calls: readonly Call[], replies: readonly Reply[]): void {
    let unknown = 0
    calls.forEach((call, i) => {
      const [cause, reply] = replies[i] ?? [new Error('no reply'), undefined]
      if (!cause) return call.resolve(reply)
      if (call.script && isNoScript(cause)) return this.#sendText(call, call.script)
      if (isWrongPlace(cause)) this.#connection.drop(ready, cause)
      this.#logWrongType(call, cause)
      const outcome = outcomeOf(cause)
      if (outcome instanceof OutcomeUnknown) unknown += 1
      call.reject(outcome)
    })
    if (unknown > 0) this.#deps.onUnknown(unknown)
  }

  /** A script deletes a key with a wrong type if it may; the next call makes it again. */
  #logWrongType({ words }: Call, { message }: Error): void {
    if (!message.startsWith('WRONGTYPE')) return
    const [, key = words[1], type, fate] = /^WRONGTYPE key=(\S+) type=(\w+) (\w+)/.exec(message) ?? []
    const text = 'a key in Redis had a wrong type and was deleted'
    if (fate === 'deleted') this.#deps.log.warn({ key, type }, text)
    else this.#limitedLog.write('warn', { key, type }, 'a key in Redis has a wrong type; delete it')
  }

  /** The server did nothing, because it does not know the script: send the same call with the script's text. */
  #sendText({ words, resolve, reject }: Call, { text }: Script): void {
    const [, , ...rest] = words
    this.#add(['eval', text, ...rest]).then(resolve, reject)
  }
}

type Reply = [Error | null, unknown]

async function exchange({ redis, run }: Ready, calls: readonly Call[]): Promise<readonly Reply[]> {
  const filled = calls.map(({ words }) => words.map((word) => (word === serverRun ? run : word)))
  return (await redis.pipeline(filled).exec()) ?? []
}
