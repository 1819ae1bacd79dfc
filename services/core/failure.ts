/**
 * The table of refusals, for REST answers, refused upgrades, OpenAPI and the documents. Clients read `message`,
 * operators the `cause` of the error; the two are never one string.
 */
export const failures = {
  BAD_REQUEST: { status: 400, message: 'The request is not valid HTTP/1.1.' },
  UNAUTHORIZED: { status: 401, message: 'No API key was provided.' },
  KEY_INVALID: { status: 401, message: 'The API key was not found.' },
  KEY_INACTIVE: { status: 401, message: 'The API key has been revoked.' },
  KEY_EXPIRED: { status: 401, message: 'The API key is past its expiry date.' },
  IP_NOT_ALLOWED: {
    status: 401,
    upgradeStatus: 403,
    message: "The client address is not on the key's allowlist.",
  },
  SYMBOL_NOT_PERMITTED: { status: 403, message: 'The API key has no access to this feed.' },
  SYMBOL_NOT_FOUND: { status: 404, message: 'The symbol does not exist.' },
  NOT_FOUND: { status: 404, message: 'There is no such path.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Use GET, HEAD or OPTIONS for this path.' },
  INVALID_PARAMS: { status: 422, message: 'A parameter is missing or invalid.' },
  UPGRADE_REQUIRED: { status: 426, message: 'This path requires a WebSocket: send an upgrade request.' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'The rate limit is exceeded.' },
  TOO_MANY_CONNECTIONS: { status: 429, message: 'All WebSocket connections of this key are in use.' },
  SERVER_ERROR: { status: 500, message: 'The service failed to answer the request.' },
} as const satisfies Record<string, { status: number; upgradeStatus?: number; message: string }>

export type FailureCode = keyof typeof failures

/** Thrown by rules and use cases. REST, the upgrade handler and gRPC each convert it in one place. */
export class Failure extends Error {
  readonly code: FailureCode
  /** Set where a retry helps; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: FailureCode,
    publicMessage: string = failures[code].message,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(publicMessage, { cause: options.cause })
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** A dependency (store, limits, bus) is unavailable. HTTP answers are SERVER_ERROR then, never `no_data`. */
export class Unavailable extends Error {
  readonly dependency: string
  /** Set where it is known when the dependency will be available. */
  readonly retryAfterSeconds: number | undefined
  constructor(dependency: string, cause?: unknown, retryAfterSeconds?: number) {
    super(`${dependency} is unavailable`, { cause })
    this.dependency = dependency
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A limit on concurrent requests, waiting reads or memory was reached. No dependency failed. */
export class Overloaded extends Unavailable {}

/**
 * A table of the store is missing, or another one has its name. The dependency answers otherwise: only reads and writes
 * of this table fail, until a person has decided what is right.
 */
export class TableOutOfOrder extends Unavailable {
  constructor(table: string, why: string) {
    super('store')
    this.message = `the table ${table} ${why}: see "fxd doctor"`
  }
}

/** A change was begun and not finished: a dependency is unavailable. The message is for the caller. */
export class Unfinished extends Unavailable {
  constructor(dependency: string, message: string, cause?: unknown) {
    super(dependency, cause)
    this.message = message
  }
}

/** A retry does not help: this server cannot store the data of this fxd. The message says why and what to do. */
export class WrongServer extends Error {}

/** This server is not the known store. It is used once a person accepts it, so that the process waits for that. */
export class ForeignServer extends WrongServer {}

export const upgradeStatus = (code: FailureCode): number => {
  const row: { status: number; upgradeStatus?: number } = failures[code]
  return row.upgradeStatus ?? row.status
}

/** Headers that HTTP requires of a refusal with this status. */
export function refusalHeaders(status: number): Readonly<Record<string, string>> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' }
  return status === 426 ? { Upgrade: 'websocket', Connection: 'Upgrade, close' } : {}
}

/** The error body of REST and of refused upgrades. */
export const errorBody = (code: FailureCode, message: string) => ({ error: { code, message } })
