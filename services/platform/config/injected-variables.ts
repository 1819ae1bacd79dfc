/** Variables of Kubernetes for the Services of a namespace whose names begin with `fxd`; they have no meaning for fxd. */
const ofServices =
  /^FXD(_[A-Z0-9]+)*_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
/** A person may set a variable of such a name too; the value shows the difference. */
const addressOfService = /^FXD(_[A-Z0-9]+)*_PORT$/
const address = /^(tcp|udp|sctp):\/\//

/** Whether Kubernetes, not a person, set a variable of this name to this value. */
export const isInjected = (name: string, value: string): boolean =>
  ofServices.test(name) || (addressOfService.test(name) && address.test(value))
