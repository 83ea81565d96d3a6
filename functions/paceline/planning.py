"""Planning a campaign: one pass over its file decides, before anything is sent, where every lead goes and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from itertools import count
from pathlib import PurePosixPath

from pydantic import TypeAdapter

from paceline.leads.advice import Advice
from paceline.leads.batches import StreamOfBatches
from paceline.leads.composing import Composer
from paceline.leads.reading import LeadFile, open_lead_file
from paceline.leads.rejects import Rejects
from paceline.leads.sizes import concurrency_of, leads_of_a_batch
from paceline.leads.vetting import Candidate, carrier_column, vet
from paceline.models import Batch, Campaign, ExcludedLead, Lead, LeadCounts, Plan, Route, RoutingRules, Stream
from paceline.ports import CarrierLookUp, ObjectStore, OptOuts
from paceline.routing import RouteChoice, choose_route
from paceline.status import Excluded

_BATCHES = TypeAdapter(list[Batch])
_STREAMS = TypeAdapter(list[Stream])


def plan_campaign(
    campaign: Campaign,
    routes: Sequence[Route],
    store: ObjectStore,
    opt_outs: OptOuts,
    *,
    carriers: CarrierLookUp | None = None,
    rules: RoutingRules | None = None,
    batch_size: int | None = None,
    prefix: str | None = None,
) -> Plan:
    """Plan the campaign from the file at its leads_key, and write its batches, manifests and rejects.

    Objects, under `prefix` (campaigns/<campaign_id>): leads/<stream>-<chunk>.jsonl (a Lead a line; beside it
    <stream>-<chunk>.numbers.json), streams/<stream>.json and
    batches.json (arrays of Batch), streams.json (array of Stream), rejects.csv. The same file, routes and opt-outs
    give the same bytes. carriers: asked about leads that say no carrier. rules: the account's own. Memory holds the
    numbers seen, the batch descriptors, the rejects and the chunks being filled, not the leads (of a workbook: all).
    No accepted lead gives a plan without streams.
    Raises: LeadFileInvalid, RouteNotFound, RequestInvalid (the message's fields), ObjectNotFound.
    """
    composer = Composer(campaign)
    planning = _Planning(campaign, routes, rules or RoutingRules(), store, batch_size, prefix)
    asked = carriers if campaign.route is None else None
    with closing(store.open(campaign.leads_key)) as body:
        file = open_lead_file(body, PurePosixPath(campaign.leads_key).name)
        composer.template.check_columns(file.columns)
        for row in vet(file, composer, campaign.account_id, opt_outs, asked):
            planning.take(row)
    return planning.finish(file)


class _Planning:
    """The state of the one pass."""

    def __init__(
        self,
        campaign: Campaign,
        routes: Sequence[Route],
        rules: RoutingRules,
        store: ObjectStore,
        batch_size: int | None,
        prefix: str | None,
    ) -> None:
        self._campaign, self._routes, self._rules = campaign, routes, rules
        self._prefix = prefix or f"campaigns/{campaign.campaign_id}"
        self._store, self._batch_size = store, batch_size
        self._excluded = Rejects()
        self._advice = Advice(campaign)
        self._streams: dict[tuple[str, tuple[str, ...]], StreamOfBatches] = {}
        self._batch_numbers = count(1)
        self._choose = lru_cache(maxsize=4096)(self._chosen)
        if campaign.route is not None:
            self._choose("")  # a forced route that does not exist is an error before the file is read

    def take(self, row: Candidate | ExcludedLead) -> None:
        """Sort one row of the file into its stream or among the excluded."""
        if isinstance(row, ExcludedLead):
            self._excluded.add(row)
            return
        choice, (text, segments, _) = self._choose(row.carrier), row.message
        self._advice.note(choice, row)
        stream = self._stream(choice.route, row.zones)
        stream.add(Lead(row.lead_no, row.phone_number, text, segments.parts, row.row_number))

    def finish(self, file: LeadFile) -> Plan:
        """Write what is open and the manifests; return the plan."""
        for writer in self._streams.values():
            writer.close()
        streams = self._with_concurrency()
        plan = Plan(
            leads=self._counts(sum(stream.leads for stream in streams)),
            parts=sum(stream.parts for stream in streams),
            batches=sum(stream.batches for stream in streams),
            streams=tuple(streams),
            streams_manifest_key=f"{self._prefix}/streams.json",
            batches_manifest_key=f"{self._prefix}/batches.json",
            rejects_key=f"{self._prefix}/rejects.csv",
            phone_column=file.phone_column,
            punctuation_messages=self._advice.punctuation_messages,
            punctuation_parts=self._advice.punctuation_parts,
            rejected_reasons=dict(sorted(self._excluded.rejected_reasons.items())),
            warnings=(
                *file.notes,
                *self._advice.warnings(streams, has_carriers=carrier_column(file.columns) is not None),
            ),
        )
        self._write_manifests(plan)
        return plan

    def _chosen(self, carrier: str) -> RouteChoice:
        return choose_route(carrier, self._routes, self._campaign.route, self._rules)

    def _stream(self, route: Route, zones: tuple[str, ...]) -> StreamOfBatches:
        stream = self._streams.get((route.name, zones))
        if stream is None:
            name = f"{route.name}-{1 + sum(known == route.name for known, _ in self._streams):02}"
            stream = self._streams[route.name, zones] = StreamOfBatches(
                self._campaign.campaign_id,
                self._prefix,
                name,
                route,
                zones,
                self._batch_size or leads_of_a_batch(route.parts_per_minute),
                self._store,
                self._next_batch_id,
            )
        return stream

    def _next_batch_id(self) -> str:
        return f"{next(self._batch_numbers):05}"

    def _with_concurrency(self) -> list[Stream]:
        leads, parts = Counter[str](), Counter[str]()
        for writer in self._streams.values():
            leads[writer.route.name] += writer.leads
            parts[writer.route.name] += writer.parts
        return [
            writer.to_stream(
                concurrency_of(
                    writer.leads / leads[writer.route.name],
                    min(writer.most_parts, writer.batch_size * parts[writer.route.name] / leads[writer.route.name]),
                    writer.route.parts_per_minute,
                )
            )
            for writer in self._streams.values()
        ]

    def _counts(self, accepted: int) -> LeadCounts:
        kinds = self._excluded.kinds
        counts = {kind.value: kinds[kind] for kind in Excluded}
        return LeadCounts.model_validate({"in": kinds.total() + accepted, "accepted": accepted, **counts})

    def _write_manifests(self, plan: Plan) -> None:
        writers = self._streams.values()
        for writer in writers:
            self._store.put(writer.manifest_key, _BATCHES.dump_json(writer.batches))
        every = sorted((b for writer in writers for b in writer.batches), key=lambda batch: int(batch.batch_id))
        self._store.put(plan.batches_manifest_key, _BATCHES.dump_json(every))
        self._store.put(plan.rejects_key, self._excluded.to_csv(), "text/csv; charset=utf-8")
        # Last: whoever finds it finds all that it points to.
        self._store.put(plan.streams_manifest_key, _STREAMS.dump_json(list(plan.streams)))
