import { expect, test } from 'vitest'
import { isInjected } from './config/injected-variables.ts'
import { ConfigError, describeConfig, parseConfig } from './config.ts'

const refusal = (environment: Record<string, string>): string => {
  try {
    parseConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

test('without any variable every setting has its default', () => {
  expect(parseConfig({ PATH: '/bin' })).toEqual({
    httpAddr: { host: '127.0.0.1', port: 8080 },
    grpcAddr: { host: '127.0.0.1', port: 8090 },
    opsAddr: { host: '127.0.0.1', port: 9464 },
    dataDir: './data',
    store: 'embedded',
    questdbHttp: { host: '127.0.0.1', port: 9000 },
    questdbPg: { host: '127.0.0.1', port: 8812 },
    questdbUser: 'admin',
    questdbPassword: 'quest',
    questdbPrefix: 'fxd_',
    redis: undefined,
    redisSentinels: [],
    redisMaster: 'fxd',
    redisSentinelPassword: undefined,
    redisSentinelTls: 'disabled',
    redisPrefix: 'fxd:',
    limitsPods: 1,
    feeds: undefined,
    feed: undefined,
    ingest: [{ host: '127.0.0.1', port: 8090 }],
    tokenFile: undefined,
    tlsCert: undefined,
    tlsKey: undefined,
    tlsCa: undefined,
    streamConnectionsMax: 10_000,
    drainSeconds: 30,
    terminalAddr: { host: '127.0.0.1', port: 8091 },
    terminalTlsCert: undefined,
    terminalTlsKey: undefined,
    terminalTokens: undefined,
    terminalPlain: 'false',
    spoolMib: 256,
    spoolHours: 24,
    apiKey: '',
    canarySymbols: [],
    canarySettleSeconds: 60,
    trustedProxies: [],
    logLevel: undefined,
    logFormat: 'auto',
  })
})

test.each([
  ['FXD_HTTP_ADDR', '0.0.0.0:80', 'httpAddr', { host: '0.0.0.0', port: 80 }],
  ['FXD_GRPC_ADDR', '[::1]:0', 'grpcAddr', { host: '::1', port: 0 }],
  ['FXD_OPS_ADDR', 'localhost:65535', 'opsAddr', { host: 'localhost', port: 65_535 }],
  ['FXD_DATA_DIR', '/var/lib/fxd', 'dataDir', '/var/lib/fxd'],
  ['FXD_STORE', 'questdb', 'store', 'questdb'],
  ['FXD_QUESTDB_HTTP', 'questdb:9000', 'questdbHttp', { host: 'questdb', port: 9000 }],
  ['FXD_QUESTDB_PG', '[::1]:8812', 'questdbPg', { host: '::1', port: 8812 }],
  ['FXD_QUESTDB_USER', 'fxd', 'questdbUser', 'fxd'],
  ['FXD_QUESTDB_PASSWORD', "it's; a=secret", 'questdbPassword', "it's; a=secret"],
  ['FXD_QUESTDB_PREFIX', 'second_', 'questdbPrefix', 'second_'],
  ['FXD_REDIS', 'rediss://:hush@redis:6380/2', 'redis', 'rediss://:hush@redis:6380/2'],
  [
    'FXD_REDIS_SENTINELS',
    'a:1, b:2',
    'redisSentinels',
    [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ],
  ],
  ['FXD_REDIS_MASTER', 'mymaster', 'redisMaster', 'mymaster'],
  ['FXD_REDIS_SENTINEL_PASSWORD', 's3cret', 'redisSentinelPassword', 's3cret'],
  ['FXD_REDIS_SENTINEL_TLS', 'enabled', 'redisSentinelTls', 'enabled'],
  ['FXD_REDIS_PREFIX', 'second:', 'redisPrefix', 'second:'],
  ['FXD_FEEDS', 'feeds/', 'feeds', 'feeds/'],
  ['FXD_FEED', 'BROKERA:ZERO', 'feed', 'BROKERA:ZERO'],
  [
    'FXD_INGEST',
    'ingest-0:8090,[::1]:8091',
    'ingest',
    [
      { host: 'ingest-0', port: 8090 },
      { host: '::1', port: 8091 },
    ],
  ],
  ['FXD_TOKEN_FILE', '/run/secrets/token', 'tokenFile', '/run/secrets/token'],
  ['FXD_CANARY_REST', 'https://bars.example.org/', 'canaryRest', 'https://bars.example.org'],
  ['FXD_CANARY_REST', 'http://10.0.0.1:8080/fxd', 'canaryRest', 'http://10.0.0.1:8080/fxd'],
  ['FXD_CANARY_STREAM', 'wss://bars.example.org:8443', 'canaryStream', 'wss://bars.example.org:8443'],
  ['FXD_CANARY_KEY_FILE', '/run/secrets/key', 'canaryKeyFile', '/run/secrets/key'],
  ['FXD_CANARY_SYMBOLS', 'A:B:C, A:B:D,A:B:C', 'canarySymbols', ['A:B:C', 'A:B:D']],
  ['FXD_CANARY_SETTLE_SECONDS', '5', 'canarySettleSeconds', 5],
  ['FXD_TLS_CERT', '/tls/tls.crt', 'tlsCert', '/tls/tls.crt'],
  ['FXD_TLS_KEY', '/tls/tls.key', 'tlsKey', '/tls/tls.key'],
  ['FXD_TLS_CA', '/tls/ca.crt', 'tlsCa', '/tls/ca.crt'],
  ['FXD_TERMINAL_ADDR', '0.0.0.0:8443', 'terminalAddr', { host: '0.0.0.0', port: 8443 }],
  ['FXD_TERMINAL_TLS_CERT', '/tls/tls.crt', 'terminalTlsCert', '/tls/tls.crt'],
  ['FXD_TERMINAL_TLS_KEY', '/tls/tls.key', 'terminalTlsKey', '/tls/tls.key'],
  ['FXD_TERMINAL_TOKENS', '/run/secrets/tokens', 'terminalTokens', '/run/secrets/tokens'],
  ['FXD_TERMINAL_PLAIN', 'true', 'terminalPlain', 'true'],
  ['FXD_STREAM_CONNECTIONS_MAX', '1', 'streamConnectionsMax', 1],
  ['FXD_DRAIN_SECONDS', '0', 'drainSeconds', 0],
  ['FXD_TRUSTED_PROXIES', '10.0.0.0/8, fd00::/8', 'trustedProxies', ['10.0.0.0/8', 'fd00::/8']],
  ['FXD_LOG_LEVEL', 'warn', 'logLevel', 'warn'],
  ['FXD_LOG_FORMAT', 'text', 'logFormat', 'text'],
])('%s=%s is parsed', (name, value, field, parsed) => {
  expect(parseConfig({ [name]: value })).toMatchObject({ [field]: parsed })
})

test.each([
  ['FXD_HTTP_ADDR', '8080', 'host:port'],
  ['FXD_HTTP_ADDR', '127.0.0.1:65536', '65535'],
  ['FXD_HTTP_ADDR', '', 'host:port'],
  ['FXD_GRPC_ADDR', '::1:80', 'host:port'],
  ['FXD_OPS_ADDR', 'a b:80', 'host:port'],
  ['FXD_DATA_DIR', '', 'a path'],
  ['FXD_STORE', 'redis', 'embedded, questdb'],
  ['FXD_QUESTDB_HTTP', 'http://127.0.0.1:9000', 'host:port'],
  ['FXD_QUESTDB_PG', '127.0.0.1:0', 'host:port of a server'],
  ['FXD_QUESTDB_USER', '', 'a user'],
  ['FXD_QUESTDB_PREFIX', 'Fxd-', 'lower-case'],
  ['FXD_REDIS_SENTINELS', 'a:1,b', 'host:port'],
  ['FXD_REDIS_MASTER', '', 'letters'],
  ['FXD_REDIS_PREFIX', 'a b', 'letters'],
  ['FXD_INGEST', '', 'at least one'],
  ['FXD_INGEST', 'ingest', 'host:port'],
  ['FXD_STREAM_CONNECTIONS_MAX', '0', 'from 1'],
  ['FXD_DRAIN_SECONDS', '1.5', 'a whole number'],
  ['FXD_CANARY_SYMBOLS', 'EURUSD', 'compound keys'],
  ['FXD_CANARY_SYMBOLS', Array.from({ length: 21 }, (_, i) => `A:B:S${i}`).join(','), 'at most 20'],
  ['FXD_CANARY_SETTLE_SECONDS', '0', 'from 1'],
  ['FXD_CANARY_SETTLE_SECONDS', '601', 'to 600'],
  ['FXD_TRUSTED_PROXIES', 'true', 'CIDR'],
  ['FXD_TRUSTED_PROXIES', '1', 'CIDR'],
  ['FXD_TRUSTED_PROXIES', '10.0.0.0/33', 'CIDR'],
  ['FXD_LOG_LEVEL', 'loud', 'debug, info, warn, error'],
  ['FXD_LOG_FORMAT', 'pretty', 'auto, json, text'],
])('%s=%s is rejected: the error names the variable, the value and what is wanted', (name, value, wanted) => {
  const message = refusal({ [name]: value })
  expect(message).toContain(name)
  expect(message).toContain(JSON.stringify(value))
  expect(message).toContain(wanted)
})

test('an unknown FXD_ variable is rejected, and the error suggests the nearest name', () => {
  expect(refusal({ FXD_HTTP_ADR: '127.0.0.1:1' })).toMatch(/FXD_HTTP_ADR .*FXD_HTTP_ADDR/)
  expect(refusal({ FXD_COLOUR: 'red' })).toContain('FXD_DATA_DIR')
})

test('variables that Kubernetes injects for Services named fxd… are accepted', () => {
  const injected = ['fxd', 'fxd-rest', 'fxd-stream-0', 'fxd-http-addr'].flatMap((service) => {
    const name = service.toUpperCase().replaceAll('-', '_')
    const port = `${name}_PORT_8080_TCP`
    return [
      `${name}_SERVICE_HOST`,
      `${name}_SERVICE_PORT`,
      `${name}_SERVICE_PORT_HTTP`,
      `${name}_SERVICE_PORT_GRPC_WEB_2`,
      `${name}_PORT`,
      port,
      ...['PROTO', 'PORT', 'ADDR'].map((what) => `${port}_${what}`),
    ]
  })
  expect(injected).toContain('FXD_REST_PORT_8080_TCP_ADDR')
  const environment = Object.fromEntries(injected.map((name) => [name, 'tcp://10.0.0.1:8080']))
  expect(parseConfig(environment)).toEqual(parseConfig({}))
})

test.each([
  'FXD_HTTP_ADR',
  'FXD_SERVICE',
  'FXD_HTTP_PORT',
  'FXD_HTTP_PORTS',
  'FXD_PORT_TCP',
  'FXD_REST_PORT_8080',
  'FXD_service_host',
])('%s, which Kubernetes does not inject, is rejected', (name) => {
  expect(refusal({ [name]: '1' })).toContain(name)
})

test('no variable of fxd looks like one that Kubernetes injects', () => {
  for (const { name } of describeConfig({})) expect(isInjected(name, 'tcp://10.0.0.1:8080'), name).toBe(false)
})

test('the parsed configuration cannot be changed', () => {
  const config = parseConfig({})
  expect(() => Object.assign(config, { dataDir: 'elsewhere' })).toThrow(TypeError)
  expect(() => Object.assign(config.httpAddr, { port: 1 })).toThrow(TypeError)
})

test('every variable is described with its default, its meaning and what is set', () => {
  const described = describeConfig({ FXD_LOG_LEVEL: 'warn' })
  expect(described.length).toBe(Object.keys(parseConfig({})).length)
  for (const each of described) {
    expect(each.name).toMatch(/^FXD_[A-Z_]+$/)
    expect(each.meaning.length).toBeGreaterThan(10)
    expect(() => parseConfig(each.fallback === '' ? {} : { [each.name]: each.fallback })).not.toThrow()
  }
  expect(described.find((each) => each.name === 'FXD_LOG_LEVEL')).toMatchObject({
    fallback: '',
    set: 'warn',
  })
})

test.each(['redis:/:hush@redis', 'redis://:hush%@redis', 'redis://hush%:word@redis'])(
  '%s is rejected as a URL of Redis, and the error does not repeat it: it may contain a password',
  (url) => {
    const message = refusal({ FXD_REDIS: url })
    expect(message).toMatch(/FXD_REDIS is not a URL .* percent-encoded/)
    expect(message).not.toContain('hush')
  },
)

test.each([
  ['FXD_CANARY_REST', 'wss://bars.example.org'],
  ['FXD_CANARY_REST', 'bars.example.org'],
  ['FXD_CANARY_STREAM', 'https://bars.example.org'],
  ['FXD_CANARY_STREAM', 'wss://user:hush@bars.example.org'],
  ['FXD_CANARY_REST', 'https://:hush@bars.example.org'],
  ['FXD_CANARY_STREAM', 'wss://bars.example.org?api_key=hush'],
])('%s=%s is rejected as a URL of a service, and the error does not repeat it', (name, value) => {
  const message = refusal({ [name]: value })
  expect(message).toMatch(`${name} is not a URL of a service`)
  expect(message).not.toContain('hush')
  expect(describeConfig({ [name]: value }).find((each) => each.name === name)?.set).toBe('(set)')
})

test.each([
  ['FXD_REDIS', 'redis://:hush@redis'],
  ['FXD_QUESTDB_PASSWORD', 'hush'],
])('the password in %s is never shown, only whether it is set', (name, value) => {
  const shown = (environment: Record<string, string>) =>
    describeConfig(environment).find((each) => each.name === name)?.set
  expect(shown({ [name]: value })).toBe('(set)')
  expect(shown({})).toBeUndefined()
})

test('a role parses only its own variables: an invalid variable of another role does not stop it', () => {
  const environment = { FXD_SPOOL_MIB: 'many', FXD_FEEDS: '/feeds', FXD_HTTP_ADDR: '127.0.0.1:1' }
  expect(parseConfig(environment, 'rest').httpAddr).toEqual({ host: '127.0.0.1', port: 1 })
  expect(() => parseConfig(environment, 'collector')).toThrow('FXD_SPOOL_MIB')
  expect(() => parseConfig({ FXD_SPOOL: '1' }, 'rest')).toThrow('FXD_SPOOL is not a variable of fxd')
})

test('reading the variable of another role throws', () => {
  expect(() => parseConfig({}, 'rest').tokenFile).toThrow('fxd rest must not read FXD_TOKEN_FILE')
  expect(parseConfig({}).tokenFile).toBeUndefined()
})
