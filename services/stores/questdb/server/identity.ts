import { ForeignServer, Unavailable, Unfinished } from '../../../core/failure.ts'
import { SharedRun } from '../../../platform/serial.ts'
import type { Cancel } from '../../../ports/clock.ts'
import type { KnownIdentity, StoreIdentity } from '../../../ports/store-identity.ts'
import type { Administration, ServerQueries } from '../exec.ts'
import { listTables } from '../layout/make-table.ts'
import { settled } from '../layout/migrate.ts'
import type { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'

const wordBytes = 8
/** Interval at which the word outside of the store is compared, and written again after Redis lost it. */
const compareMs = 1_000
/** The row of the schema table that has the word. Each layout has it, so later ones leave it alone. */
const rowVersion = 1

interface FoundIdentity {
  readonly hasTables: boolean
  /** Absent on an older backup, and on a server that only an earlier fxd used. */
  readonly word: string | undefined
}

/** Why a server is not the known store; `undefined`: it may be used. */
export function refusalOf(
  known: string | undefined,
  { hasTables, word }: FoundIdentity,
): 'empty' | 'foreign' | undefined {
  if (known === undefined) return undefined
  if (!hasTables) return 'empty'
  return word === undefined || word === known ? undefined : 'foreign'
}

export const refusalTexts = {
  empty:
    'QuestDB has no tables of fxd, but the store is known: QuestDB lost its data, or this is another server',
  foreign:
    'QuestDB has the identity of another store: this is another server, or a backup of before "fxd store begin"',
} as const

export const refusalCure =
  'do not restart ingest on this server: stop all processes of fxd, restore a backup, start them again. ' +
  'Without a copy, "fxd store begin" accepts this server (docs/backup.md)'

export async function findIdentity(names: TableNames, queries: ServerQueries): Promise<FoundIdentity> {
  if (!(await listTables(queries)).includes(names.schema)) return { hasTables: false, word: undefined }
  await settled(names, queries)
  const columns = await queries.exec(`SELECT "column" FROM table_columns('${names.schema}')`)
  if (!columns.some(([column]) => column === 'identity')) return { hasTables: true, word: undefined }
  const [row] = await queries.exec(`SELECT identity FROM '${names.schema}' WHERE version = ${rowVersion}`)
  const word = row?.[0]
  return { hasTables: true, word: typeof word === 'string' ? word : undefined }
}

/** The message is for the person who runs the command. */
function unknownWord(failure: Unavailable): Unfinished {
  const reason = failure.cause instanceof Error ? failure.cause.message : failure.message
  const text = `Nothing was changed, because it is unknown which store is the known one: ${reason}.`
  return new Unfinished('Redis', text, failure)
}

interface Known {
  readonly word: string | undefined
  /** Why Redis did not say. */
  readonly failure?: Unavailable
}

export interface IdentityDeps extends Pick<QuestdbOptions, 'clock' | 'log' | 'known' | 'readKnown'> {
  readonly names: TableNames
  readonly queries: ServerQueries
  /** Set for a process that may create tables: it also gives the store its word. */
  readonly writing: { readonly admin: Administration; readonly makeTables: () => Promise<void> } | undefined
  /** Another store was accepted after the one before: what this process knows of that one is void. */
  readonly replaced: () => void
  /** The word outside of the store changed: the server must be checked again. */
  readonly changed: () => void
}

/** Compares the word of the server with the one that is known outside of it. */
export class Identity implements StoreIdentity {
  readonly #deps: IdentityDeps
  #word: string | undefined
  /** The other word that `changed` reported. */
  #told: string | undefined
  #stop: Cancel = () => undefined

  constructor(deps: IdentityDeps) {
    this.#deps = deps
  }

  get word(): string | undefined {
    return this.#word
  }

  /**
   * Rejects with `ForeignServer` when the server is not the known store, before `prepare` may create anything on it. An
   * empty server waits for Redis, which alone tells whether it is new. Without Redis nothing is compared: the server has
   * no word, because nothing decides between the words of two processes.
   */
  async check(prepare: () => Promise<void>): Promise<void> {
    const { names, queries } = this.#deps
    const outside = this.#outside
    if (outside === undefined) return prepare()
    const known = await this.#known(outside)
    const found = await findIdentity(names, queries)
    const refusal = refusalOf(known.word, found)
    if (refusal)
      throw new ForeignServer(`${refusalTexts[refusal]}. Nothing was created. Cure: ${refusalCure}.`)
    if (!found.hasTables && known.failure !== undefined) throw new Unavailable('store', known.failure)
    await prepare()
    await this.#settle(outside, found.word ?? known.word, found)
  }

  /** From now on compares the word periodically. */
  open(): void {
    this.#stop()
    const compares = new SharedRun(() => this.#compare())
    // A failure is that of Redis or QuestDB, which others report.
    this.#stop = this.#deps.clock.every(compareMs, () => void compares.run().catch(() => undefined))
  }

  close(): void {
    this.#stop()
  }

  get #outside(): KnownIdentity | undefined {
    return this.#deps.known?.()
  }

  async begin(): Promise<boolean> {
    const { names, queries, writing, clock, log } = this.#deps
    const outside = this.#outside
    if (writing === undefined || outside === undefined) return false
    const known = await this.#known(outside)
    if (known.failure !== undefined) throw unknownWord(known.failure)
    const found = await findIdentity(names, queries)
    if (refusalOf(known.word, found) === undefined) return false
    const word = clock.randomHex(wordBytes)
    // First outside: other ingests refuse the server until it has this word, and a repeat starts from here.
    await outside.replace(word)
    await writing.makeTables()
    await this.#write(word)
    log.warn({ identity: word }, 'the store begins anew: a person accepted this server')
    this.#take(word)
    this.#deps.changed()
    return true
  }

  /** The known word: from Redis, else as this process remembers it, else from the file. */
  async #known(outside: KnownIdentity): Promise<Known> {
    const remembered = (): string | undefined => this.#word ?? this.#deps.readKnown?.()
    try {
      return { word: (await outside.agree()) ?? remembered() }
    } catch (cause) {
      if (!(cause instanceof Unavailable)) throw cause
      return { word: remembered(), failure: cause }
    }
  }

  /** A writer gives a word to a server without one, and to Redis; while Redis is unavailable `#compare` does so later. */
  async #settle(outside: KnownIdentity, given: string | undefined, found: FoundIdentity): Promise<void> {
    const { writing, clock } = this.#deps
    if (writing === undefined) return this.#take(given)
    const agreed = await outside.agree(given ?? clock.randomHex(wordBytes)).catch(() => given)
    if (agreed === undefined) return
    if (found.word === undefined) await this.#write(agreed)
    this.#take(found.word ?? agreed)
  }

  async #write(word: string): Promise<void> {
    const { names, writing } = this.#deps
    const exec = async (sql: string): Promise<unknown> => writing?.admin.exec(sql)
    await exec(`ALTER TABLE '${names.schema}' ADD COLUMN IF NOT EXISTS identity VARCHAR`)
    await exec(`INSERT INTO '${names.schema}' (ts, version, identity) VALUES (0, ${rowVersion}, '${word}')`)
    if (writing) await settled(names, writing.admin)
  }

  #take(word: string | undefined): void {
    const before = this.#word
    this.#word = word ?? before
    if (before !== undefined && this.#word !== before) this.#deps.replaced()
  }

  async #compare(): Promise<void> {
    const { writing } = this.#deps
    if (this.#word === undefined)
      return writing === undefined ? undefined : this.check(() => Promise.resolve())
    const now = await this.#outside?.agree(writing && this.#word)
    const other = now === this.#word ? undefined : now
    if (other !== undefined && other !== this.#told) this.#deps.changed()
    this.#told = other
  }
}
