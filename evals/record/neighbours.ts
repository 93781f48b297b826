import { createHash } from 'node:crypto';

/** Something else that lives on the same system, well and without a part in what is wrong. */
export interface Neighbour {
  /** In lower case, with a hyphen: unlike any name that a case gives. */
  readonly name: string;
  readonly version: string;
  /** 0–99. */
  readonly size: number;
}

const work =
  `accrual allocation annex appraisal archive arrears assay audit badge batch bazaar beacon benefit bonus bounty brochure
bulletin bursary calendar canvas carpool census charter clinic coupon courier customs deposit digest dispatch docket donor dossier
easement escrow estimate excise fare fleet forecast freight garment glossary grant harvest hotel insurance itinerary jobs keycard
kiosk layaway lease licence loyalty luggage manifest meter milestone mortgage newsfeed notary outage overtime parcel payroll
pension permit petition pledge podcast quarry quote ration rebate recipe refund rental reserve roster royalty rotation sales
scooter seminar shift sponsor spare subsidy survey tariff tenant ticket timesheet toll tuition usher vendor visa voucher
warranty waybill yield zoning`.split(/\s+/);
const part =
  `api batch bridge cache export feed gate hook import index inbox ledger log mirror notes pool queue relay report router
rules search sender stats store sync tagger tracker view watch worker`.split(/\s+/);

/**
 * The neighbours of a case, the same ones whenever it is recorded, and hardly one that another case has: incidents that are
 * recorded on one machine are not incidents of one system.
 */
export function neighboursOf(id: string, count: number): readonly Neighbour[] {
  const found = new Map<string, Neighbour>();
  for (let n = 0; found.size < count; n += 1) {
    const dice = createHash('sha256').update(`${id} ${n}`).digest();
    const name = `${work[dice.readUInt16BE(0) % work.length]}-${part[dice.readUInt16BE(2) % part.length]}`;
    const version = `${1 + (dice.readUInt8(4) % 14)}.${dice.readUInt8(5) % 30}.${dice.readUInt8(6) % 10}`;
    found.set(name, { name, version, size: dice.readUInt16BE(7) % 100 });
  }
  return [...found.values()];
}
