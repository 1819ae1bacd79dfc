import { isTerminalToken, terminalTokenDigest } from '../../services/platform/credentials/terminal-token.ts'
import { listOf, type Mapping } from '../kube/object.ts'
import { type FeedObject, feedLabel, group, type Secret } from '../kube/resources.ts'
import { secretWith, textIn } from '../kube/secret-values.ts'
import { collectorNames, feedKeyOf, type PodTemplate, type TerminalTemplate } from './objects.ts'

/** Maximum of `spec.collector.replicas`. Each has a Service, also one that does not run: routes name both. */
const replicasMax = 2
const port = 8090
const folder = '/etc/fxd/terminal'
const volume = 'terminal'
const digestsField = 'digests'
const issueAnnotation = `${group}/terminal-token-issue`

export const isTerminal = ({ spec }: FeedObject): boolean => spec.source.type === 'Terminal'

const serviceName = (feed: string, replica: number): string => `${collectorNames(feed).set}-${replica}`

/** Names of the objects that only a feed with source Terminal has. */
export const terminalNames = (feed: string) => ({
  secret: `${feed}-terminal`,
  services: Array.from({ length: replicasMax }, (_, replica) => serviceName(feed, replica)),
})

/** The addresses to which terminals post, one for each collector. */
export function terminalAddresses({ metadata, spec }: FeedObject, template: TerminalTemplate): string[] {
  const { name, namespace = '' } = metadata
  const { url, feeds = [] } = template
  return Array.from({ length: spec.collector?.replicas ?? 1 }, (_, replica) =>
    url !== undefined && feeds.includes(name)
      ? `${url}/${name}/${replica}`
      : `http://${serviceName(name, replica)}.${namespace}.svc:${port}`,
  )
}

/** The Services of the collectors, one for each: a terminal posts to one collector. */
export const terminalServices = ({ metadata: { name } }: FeedObject) =>
  terminalNames(name).services.map((service) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service, labels: { [feedLabel]: name } },
    spec: {
      // The pod of a StatefulSet has the name of the set with its number, as the Service has.
      selector: { [feedLabel]: name, 'statefulset.kubernetes.io/pod-name': service },
      ports: [{ name: 'terminal', protocol: 'TCP', port, targetPort: port }],
    },
  }))

/**
 * The Secret with the token for the terminal, and with the digests for the collector: of the token and of the one before
 * it. It has `fresh` as the token, unless the existing Secret has a token of this issue or a later one.
 */
export function terminalSecret(feed: FeedObject, existing: Secret | undefined, fresh: string): Secret {
  const { name } = feed.metadata
  const issue = feed.spec.collector?.tokenIssue ?? 1
  const had = tokenIn(existing)
  const isCurrent = had !== undefined && had.issue >= issue
  const token = isCurrent ? had.token : fresh
  const older = isCurrent ? had.older : had && terminalTokenDigest(had.token)
  const lines = [terminalTokenDigest(token), older].filter((digest) => digest !== undefined)
  return secretWith(
    {
      name: terminalNames(name).secret,
      labels: { [feedLabel]: name },
      annotations: { [issueAnnotation]: String(isCurrent ? had.issue : issue) },
    },
    { token, [digestsField]: lines.map((digest) => `${feedKeyOf(feed)} ${digest}\n`).join('') },
  )
}

interface Token {
  readonly issue: number
  readonly token: string
  /** Digest of the token before. */
  readonly older: string | undefined
}

/** `undefined`: the Secret does not exist, or has no token with its digest. */
function tokenIn(secret: Secret | undefined): Token | undefined {
  const issue = Number(secret?.metadata.annotations?.[issueAnnotation])
  const token = textIn(secret, 'token') ?? ''
  const lines = (textIn(secret, digestsField) ?? '').split('\n')
  const [current, older] = lines.map((line) => line.split(' ')[1])
  if (!Number.isInteger(issue) || !isTerminalToken(token) || current !== terminalTokenDigest(token))
    return undefined
  return { issue, token, older }
}

/** Adds the endpoint for the terminal to the first container, which can read the digests and not the token. */
export function withEndpoint(
  feed: FeedObject,
  template: PodTemplate,
  terminals: TerminalTemplate,
): PodTemplate {
  const { containers, volumes = [] } = template.spec
  const [first = {}, ...others] = containers
  const env = listOf(first['env']) as readonly Mapping[]
  const names = new Set(env.map((each) => each['name']))
  const secret = {
    secretName: terminalNames(feed.metadata.name).secret,
    items: [{ key: digestsField, path: digestsField }],
  }
  const collector = {
    ...first,
    env: [
      ...env,
      // Those of extraEnv have priority: server-side apply refuses two of one name.
      ...terminals.env.filter((each) => !names.has(each['name'])),
      { name: 'FXD_TERMINAL_TOKENS', value: `${folder}/${digestsField}` },
    ],
    volumeMounts: [...listOf(first['volumeMounts']), { name: volume, mountPath: folder, readOnly: true }],
  }
  return {
    ...template,
    spec: {
      ...template.spec,
      containers: [collector, ...others],
      volumes: [...volumes, { name: volume, secret }],
    },
  }
}
