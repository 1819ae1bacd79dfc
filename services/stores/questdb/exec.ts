import { Unavailable } from '../../core/failure.ts'
import { formatAddress } from '../../platform/listen.ts'
import { within } from '../../platform/within.ts'
import type { QuestdbOptions } from './options.ts'

/** The server rejected a statement because of its content. */
class Refused extends Error {}

/** Deadline of a statement: creating a table waits for the disk many times. */
const execDeadlineMs = 25_000
const pingDeadlineMs = 2_000

interface ServerWarning {
  readonly tag: string
  readonly warning: string
}

/** Queries about the server that change nothing. */
export interface ServerQueries {
  /** Runs one statement; rejects with `Refused` or `Unavailable`. Values are texts, numbers or booleans. */
  exec(sql: string, deadlineMs?: number): Promise<readonly (readonly unknown[])[]>
  ping(): Promise<void>
}

export interface Administration extends ServerQueries {
  warnings(): Promise<readonly ServerWarning[]>
}

export function administration(
  options: Pick<QuestdbOptions, 'http' | 'credentials' | 'clock'>,
): Administration {
  const { http, credentials, clock } = options
  const origin = `http://${formatAddress(http)}`
  const authorization = `Basic ${btoa(`${credentials.user}:${credentials.password}`)}`

  const get = async <T>(
    path: string,
    deadlineMs: number,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> => {
    const given = new AbortController()
    try {
      const asked = fetch(`${origin}${path}`, { headers: { authorization }, signal: given.signal })
      const what = `${path.slice(0, path.indexOf('?') >>> 0)} of QuestDB`
      return await within(clock, deadlineMs, what, asked.then(read), () => given.abort())
    } catch (cause) {
      if (cause instanceof Refused) throw cause
      throw new Unavailable('store', cause)
    }
  }

  return {
    exec: (sql, deadlineMs = execDeadlineMs) =>
      get(`/exec?query=${encodeURIComponent(sql.replace(/\s+/g, ' ').trim())}`, deadlineMs, readExec),
    warnings: () =>
      get('/warnings', pingDeadlineMs, async (answer) =>
        answer.ok ? ((await answer.json()) as readonly ServerWarning[]) : [],
      ),
    ping: () =>
      get('/ping', pingDeadlineMs, async (answer) => {
        if (answer.status !== 204) throw new Error(`/ping answered ${answer.status}`)
      }),
  }
}

async function readExec(answer: Response): Promise<readonly (readonly unknown[])[]> {
  const text = await answer.text()
  const body = parseBody(text)
  if (body === undefined) throw new Error(`HTTP ${answer.status}: ${text.slice(0, 200)}`)
  // A statement may fail in the middle of its answer: then the status is 200 and the body contains the error.
  if (body.error !== undefined) {
    if (answer.status >= 500) throw new Error(body.error)
    throw new Refused(body.error)
  }
  if (answer.status !== 200) throw new Error(`HTTP ${answer.status}`)
  return body.dataset ?? []
}

interface ExecBody {
  readonly error?: string
  readonly dataset?: readonly (readonly unknown[])[]
}

function parseBody(text: string): ExecBody | undefined {
  try {
    return JSON.parse(text) as ExecBody
  } catch {
    return undefined
  }
}
