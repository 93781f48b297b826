/** Short names → characters: those that alerts, incident bots and people on call use. Unknown names stay text. */
const TABLE = `
smile 😄|smiley 😃|grinning 😀|grin 😁|joy 😂|rofl 🤣|wink 😉|blush 😊|heart_eyes 😍|thinking_face 🤔|thinking 🤔
neutral_face 😐|confused 😕|cry 😢|sob 😭|scream 😱|sweat 😓|sweat_smile 😅|sleeping 😴|sunglasses 😎|nerd_face 🤓
exploding_head 🤯|facepalm 🤦|shrug 🤷|sleepy 😪|tired_face 😫|angry 😠|rage 😡|slightly_smiling_face 🙂|upside_down_face 🙃
saluting_face 🫡|face_with_monocle 🧐|partying_face 🥳|melting_face 🫠|hugging_face 🤗|dizzy_face 😵|ghost 👻|robot_face 🤖|robot 🤖
+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|ok_hand 👌|clap 👏|raised_hands 🙌|pray 🙏|muscle 💪|wave 👋|point_right 👉
point_left 👈|point_up 👆|point_down 👇|raised_hand ✋|hand ✋|eyes 👀|brain 🧠|handshake 🤝|writing_hand ✍️|v ✌️|crossed_fingers 🤞
heart ❤️|broken_heart 💔|green_heart 💚|blue_heart 💙|yellow_heart 💛|purple_heart 💜|sparkles ✨|star ⭐|star2 🌟|fire 🔥|boom 💥
zap ⚡|rocket 🚀|tada 🎉|confetti_ball 🎊|trophy 🏆|medal 🏅|100 💯|bulb 💡|bell 🔔|no_bell 🔕|loudspeaker 📢|mega 📣
rotating_light 🚨|warning ⚠️|no_entry ⛔|no_entry_sign 🚫|octagonal_sign 🛑|stop_sign 🛑|construction 🚧|sos 🆘|radioactive_sign ☢️
white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌|negative_squared_cross_mark ❎|heavy_multiplication_x ✖️
question ❓|grey_question ❔|exclamation ❗|grey_exclamation ❕|bangbang ‼️|interrobang ⁉️|information_source ℹ️|recycle ♻️
red_circle 🔴|large_red_circle 🔴|large_orange_circle 🟠|orange_circle 🟠|large_yellow_circle 🟡|yellow_circle 🟡|large_green_circle 🟢
green_circle 🟢|large_blue_circle 🔵|blue_circle 🔵|large_purple_circle 🟣|purple_circle 🟣|large_brown_circle 🟤|white_circle ⚪|black_circle ⚫
red_square 🟥|large_red_square 🟥|large_orange_square 🟧|large_yellow_square 🟨|large_green_square 🟩|large_blue_square 🟦|large_purple_square 🟪
white_large_square ⬜|black_large_square ⬛|white_small_square ▫️|black_small_square ▪️|small_blue_diamond 🔹|small_orange_diamond 🔸
small_red_triangle 🔺|small_red_triangle_down 🔻|arrow_up ⬆️|arrow_down ⬇️|arrow_left ⬅️|arrow_right ➡️|arrow_upper_right ↗️
arrow_lower_right ↘️|arrow_forward ▶️|arrow_backward ◀️|double_vertical_bar ⏸️|pause_button ⏸️|black_square_for_stop ⏹️|stop_button ⏹️
fast_forward ⏩|rewind ⏪|twisted_rightwards_arrows 🔀|repeat 🔁|arrows_counterclockwise 🔄|arrows_clockwise 🔃|leftwards_arrow_with_hook ↩️
hourglass ⌛|hourglass_flowing_sand ⏳|stopwatch ⏱️|timer_clock ⏲️|alarm_clock ⏰|watch ⌚|clock1 🕐|clock3 🕒|clock9 🕘|calendar 📅|date 📅
mag 🔍|mag_right 🔎|microscope 🔬|telescope 🔭|stethoscope 🩺|thermometer 🌡️|pill 💊|syringe 💉|adhesive_bandage 🩹|ambulance 🚑|hospital 🏥
wrench 🔧|hammer 🔨|hammer_and_wrench 🛠️|gear ⚙️|nut_and_bolt 🔩|toolbox 🧰|broom 🧹|wastebasket 🗑️|link 🔗|paperclip 📎|pushpin 📌|round_pushpin 📍
lock 🔒|unlock 🔓|closed_lock_with_key 🔐|key 🔑|old_key 🗝️|shield 🛡️|bug 🐛|beetle 🐞|ant 🐜|snail 🐌|turtle 🐢|whale 🐳|whale2 🐋|elephant 🐘
snake 🐍|crab 🦀|octopus 🐙|unicorn_face 🦄|dog 🐶|cat 🐱|see_no_evil 🙈|hear_no_evil 🙉|speak_no_evil 🙊
chart_with_upwards_trend 📈|chart_with_downwards_trend 📉|bar_chart 📊|clipboard 📋|memo 📝|pencil 📝|pencil2 ✏️|page_facing_up 📄|page_with_curl 📃
scroll 📜|bookmark 🔖|bookmark_tabs 📑|books 📚|book 📖|open_book 📖|notebook 📓|newspaper 📰|file_folder 📁|open_file_folder 📂|card_index_dividers 🗂️
file_cabinet 🗄️|package 📦|inbox_tray 📥|outbox_tray 📤|email 📧|envelope ✉️|incoming_envelope 📨|mailbox 📫|speech_balloon 💬|thought_balloon 💭|left_speech_bubble 🗨️
computer 💻|desktop_computer 🖥️|keyboard ⌨️|printer 🖨️|floppy_disk 💾|cd 💿|minidisc 💽|electric_plug 🔌|battery 🔋|satellite 🛰️|satellite_antenna 📡
globe_with_meridians 🌐|earth_africa 🌍|earth_americas 🌎|cloud ☁️|sunny ☀️|rain_cloud 🌧️|thunder_cloud_and_rain ⛈️|snowflake ❄️|umbrella ☔|ocean 🌊|rainbow 🌈
coffee ☕|beer 🍺|beers 🍻|pizza 🍕|cake 🎂|cookie 🍪|moneybag 💰|dollar 💵|heavy_dollar_sign 💲|credit_card 💳|receipt 🧾|money_with_wings 💸
police_car 🚓|cop 👮|fire_engine 🚒|firefighter 🧑‍🚒|detective 🕵️|sleuth_or_spy 🕵️|construction_worker 👷|technologist 🧑‍💻|busts_in_silhouette 👥|bust_in_silhouette 👤
crown 👑|crystal_ball 🔮|dart 🎯|game_die 🎲|jigsaw 🧩|magnet 🧲|test_tube 🧪|dna 🧬|vertical_traffic_light 🚦|traffic_light 🚥|checkered_flag 🏁|triangular_flag_on_post 🚩
one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|six 6️⃣|seven 7️⃣|eight 8️⃣|nine 9️⃣|keycap_ten 🔟|zero 0️⃣|new 🆕|ok 🆗|up 🆙|cool 🆒|free 🆓|soon 🔜|back 🔙|end 🔚
heavy_plus_sign ➕|heavy_minus_sign ➖|infinity ♾️|copyright ©️|registered ®️|tm ™️|end_of_line ⏎|ghost_ 👻|skull 💀|skull_and_crossbones ☠️|bomb 💣|alien 👽
moon 🌙|crescent_moon 🌙|sun_with_face 🌞|dove_of_peace 🕊️|dove 🕊️|seedling 🌱|four_leaf_clover 🍀|herb 🌿|evergreen_tree 🌲|cactus 🌵|rose 🌹
ship 🚢|anchor ⚓|ferris_wheel 🎡|helicopter 🚁|parachute 🪂|wheel 🛞|ladder 🪜|bricks 🧱|bucket 🪣|magic_wand 🪄|compass 🧭|world_map 🗺️|mailbox_with_mail 📬
`;

/** @type {Map<string, string>} */
const EMOJI = new Map(
  TABLE.trim()
    .split(/[|\n]/)
    .map((entry) => /** @type {[string, string]} */ (entry.trim().split(' '))),
);

/** Offered when a person reacts to a message. */
export const QUICK_REACTIONS = ['eyes', '+1', 'white_check_mark', 'raised_hands', 'rotating_light', 'thinking_face'];

/**
 * The character for a short name ("rotating_light", "+1", "wave::skin-tone-2"), or undefined.
 * @param {string} name
 * @returns {string | undefined}
 */
export function emojiFor(name) {
  return EMOJI.get(name.split('::')[0] ?? name);
}

/**
 * Plain text with `:name:` replaced where the name is known.
 * @param {string} text
 */
export function withEmoji(text) {
  return text.replace(/:([a-z0-9_+-]+(?:::skin-tone-\d)?):/g, (whole, name) => emojiFor(name) ?? whole);
}
