"""The zones of the states and ZIP codes of the United States. How they were made: docs/decisions/017-lead-files.md."""

from __future__ import annotations

_HONOLULU, _ADAK, _ANCHORAGE = "Pacific/Honolulu", "America/Adak", "America/Anchorage"
_PACIFIC, _ARIZONA, _MOUNTAIN = "America/Los_Angeles", "America/Phoenix", "America/Denver"
_CENTRAL, _EASTERN, _ATLANTIC = "America/Chicago", "America/New_York", "America/Puerto_Rico"
_SAMOA, _GUAM = "Pacific/Pago_Pago", "Pacific/Guam"

# As people write them; " time", " standard time" and the like are taken off first. The abbreviations mean the clock
# on the wall: who writes EST in July does not mean an hour that nobody's clock shows.
NAMED_ZONES = {
    **dict.fromkeys(("eastern", "est", "edt", "et", "est5edt", "e"), _EASTERN),
    **dict.fromkeys(("central", "cst", "cdt", "ct", "cst6cdt", "c"), _CENTRAL),
    **dict.fromkeys(("mountain", "mst", "mdt", "mt", "mst7mdt", "m"), _MOUNTAIN),
    **dict.fromkeys(("pacific", "pst", "pdt", "pt", "pst8pdt", "p"), _PACIFIC),
    **dict.fromkeys(("alaska", "alaskan", "akst", "akdt", "akt"), _ANCHORAGE),
    **dict.fromkeys(("hawaii", "hawaiian", "hst", "hawaii-aleutian"), _HONOLULU),
    **dict.fromkeys(("arizona", "us mountain"), _ARIZONA),
    **dict.fromkeys(("atlantic", "ast", "puerto rico"), _ATLANTIC),
    **dict.fromkeys(("aleutian", "aleutians"), _ADAK),
}

_ONE_ZONE = {
    _EASTERN: "CT DC DE GA MA MD ME NC NH NJ NY OH PA RI SC VA VT WV",
    _CENTRAL: "AL AR IA IL LA MN MO MS OK WI",
    _MOUNTAIN: "CO MT NM UT WY",
    _PACIFIC: "CA WA",
    _HONOLULU: "HI",
    _ATLANTIC: "PR VI",
    _GUAM: "GU MP",
    _SAMOA: "AS",
}
_TWO_ZONES = {
    (_CENTRAL, _EASTERN): "FL IN KY MI TN",
    (_MOUNTAIN, _CENTRAL): "KS ND NE SD TX",
    (_PACIFIC, _MOUNTAIN): "ID NV OR",  # of Nevada: West Wendover
    (_ARIZONA, _MOUNTAIN): "AZ",  # the Navajo Nation keeps summer time
    (_ADAK, _ANCHORAGE): "AK",
}
STATE_ZONES: dict[str, tuple[str, ...]] = {
    **{state: (zone,) for zone, states in _ONE_ZONE.items() for state in states.split()},
    **{state: zones for zones, states in _TWO_ZONES.items() for state in states.split()},
}

_NAMES = """
AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware,
DC District of Columbia, DC Washington DC, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana,
IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota,
MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico,
NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island,
SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington,
WV West Virginia, WI Wisconsin, WY Wyoming, PR Puerto Rico, VI Virgin Islands, VI US Virgin Islands, GU Guam,
AS American Samoa, MP Northern Mariana Islands
"""
# Letters only, in capitals → the state's two letters.
STATE_NAMES = {
    "".join(c for c in name.upper() if c.isalpha()): state
    for state, _, name in (entry.strip().partition(" ") for entry in _NAMES.split(","))
}

# First and last of a run of three-digit prefixes (several cities' post), and its zones. Left out: the forces' post
# (090-098, 340, 962-966), which may be anywhere.
ZIP_ZONES: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (5, 5, (_EASTERN,)),
    (6, 9, (_ATLANTIC,)),
    (10, 89, (_EASTERN,)),
    (100, 323, (_EASTERN,)),
    (324, 324, (_CENTRAL, _EASTERN)),
    (325, 325, (_CENTRAL,)),
    (326, 339, (_EASTERN,)),
    (341, 349, (_EASTERN,)),
    (350, 372, (_CENTRAL,)),
    (373, 374, (_CENTRAL, _EASTERN)),
    (375, 375, (_CENTRAL,)),
    (376, 376, (_EASTERN,)),
    (377, 377, (_CENTRAL, _EASTERN)),
    (378, 379, (_EASTERN,)),
    (380, 397, (_CENTRAL,)),
    (398, 400, (_EASTERN,)),
    (401, 401, (_CENTRAL, _EASTERN)),
    (402, 418, (_EASTERN,)),
    (420, 424, (_CENTRAL,)),
    (425, 425, (_EASTERN,)),
    (426, 427, (_CENTRAL, _EASTERN)),
    (430, 462, (_EASTERN,)),
    (463, 464, (_CENTRAL,)),
    (465, 465, (_CENTRAL, _EASTERN)),
    (466, 468, (_EASTERN,)),
    (469, 469, (_CENTRAL, _EASTERN)),
    (470, 474, (_EASTERN,)),
    (475, 475, (_CENTRAL, _EASTERN)),
    (476, 477, (_CENTRAL,)),
    (478, 478, (_EASTERN,)),
    (479, 479, (_CENTRAL, _EASTERN)),
    (480, 497, (_EASTERN,)),
    (498, 499, (_CENTRAL, _EASTERN)),
    (500, 567, (_CENTRAL,)),
    (569, 569, (_EASTERN,)),
    (570, 574, (_CENTRAL,)),
    (575, 576, (_MOUNTAIN, _CENTRAL)),
    (577, 577, (_MOUNTAIN,)),
    (580, 584, (_CENTRAL,)),
    (585, 586, (_MOUNTAIN, _CENTRAL)),
    (587, 588, (_CENTRAL,)),
    (590, 599, (_MOUNTAIN,)),
    (600, 676, (_CENTRAL,)),
    (677, 678, (_MOUNTAIN, _CENTRAL)),
    (679, 689, (_CENTRAL,)),
    (690, 692, (_MOUNTAIN, _CENTRAL)),
    (693, 693, (_MOUNTAIN,)),
    (700, 797, (_CENTRAL,)),
    (798, 799, (_MOUNTAIN, _CENTRAL)),
    (800, 834, (_MOUNTAIN,)),
    (835, 835, (_PACIFIC, _MOUNTAIN)),
    (836, 837, (_MOUNTAIN,)),
    (838, 838, (_PACIFIC,)),
    (840, 847, (_MOUNTAIN,)),
    (850, 859, (_ARIZONA,)),
    (860, 860, (_ARIZONA, _MOUNTAIN)),
    (863, 864, (_ARIZONA,)),
    (865, 865, (_ARIZONA, _MOUNTAIN)),
    (870, 885, (_MOUNTAIN,)),
    (888, 888, (_EASTERN,)),
    (889, 897, (_PACIFIC,)),
    (898, 898, (_PACIFIC, _MOUNTAIN)),
    (900, 961, (_PACIFIC,)),
    (967, 967, (_SAMOA, _HONOLULU)),
    (968, 968, (_HONOLULU,)),
    (969, 969, ("Pacific/Palau", _GUAM, "Pacific/Majuro")),
    (970, 978, (_PACIFIC,)),
    (979, 979, (_PACIFIC, _MOUNTAIN)),
    (980, 994, (_PACIFIC,)),
    (995, 995, (_ADAK, _ANCHORAGE)),
    (996, 999, (_ANCHORAGE,)),
)
